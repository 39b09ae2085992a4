"""Queries under skip-till-any-match without adjacent conditions: bursts as operators, shared."""
