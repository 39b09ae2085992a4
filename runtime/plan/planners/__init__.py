"""The planners: greedy, SHARON and GLORIA."""
