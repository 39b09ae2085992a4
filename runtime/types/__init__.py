"""The vocabulary of every layer: kinds of attributes, the time and type columns, schemas."""
