"""Other systems over the same events, each in its own process."""
