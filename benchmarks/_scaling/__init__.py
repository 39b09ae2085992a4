"""How cost grows, what the parts of a job cost, and the size of a cluster."""
