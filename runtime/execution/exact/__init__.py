"""The plain engine: whole numbers of any size, state by state. Slow, readable, the yardstick."""
