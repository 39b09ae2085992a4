"""How cost grows, what the parts of a job cost, and what a cluster would need by that."""
