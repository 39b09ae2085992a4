"""A finished run as one HTML file: `log` keeps what is needed while it runs, `history` reads it,
`series` makes curves of totals, `plot` draws, `parts` are what `page` puts together."""
