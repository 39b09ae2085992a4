"""Operator declarations: the queries each supports, their cost and the size of their state."""
