"""The systems that the papers compare with, on our own event model: one of them a file."""
