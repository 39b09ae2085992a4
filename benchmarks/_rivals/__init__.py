"""The systems that one would pick instead, each in a process of its own, over the same events."""
