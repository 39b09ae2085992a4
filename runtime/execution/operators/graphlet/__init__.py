"""The graphlet operator: evaluates bursts in closed form, shared by queries."""
