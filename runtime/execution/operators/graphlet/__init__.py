"""The graphlet operator: bursts in closed form, shared by queries."""
