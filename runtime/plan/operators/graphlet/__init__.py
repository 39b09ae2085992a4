"""The graphlet operator: evaluates bursts of events that queries share."""
