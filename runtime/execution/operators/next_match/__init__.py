"""The next-match operator: one query under skip-till-next-match or contiguous."""
