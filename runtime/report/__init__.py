"""The report of a run as one HTML file, built from a log that the run writes.

`run_log` writes the log and `log_reader` reads it; `series` turns totals into curves, `plot` draws
them, and `report_page` puts the `sections` together.
"""
