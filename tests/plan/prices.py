"""Prices that make planners do what they seldom do."""

from runtime.plan.cost_coefficients import Prices

#: With which every longer part is worth it.
FREE_PARTS = Prices(repeat=100.0, state=100.0, settling=0.0, settle=0.0)
