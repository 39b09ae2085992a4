"""The exact engine: integers of any size, in plain Python; slow, readable, the reference."""
