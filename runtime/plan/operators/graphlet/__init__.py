"""The graphlet operator: bursts of events, shared by queries."""
