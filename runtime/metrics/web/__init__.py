"""What a browser is given: a page of one file each, with its looks and its program inside."""
