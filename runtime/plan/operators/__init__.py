"""What each physical operator supports, what it costs, and how large its state is."""
