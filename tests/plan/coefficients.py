"""Cost coefficients that make planners do what they seldom do."""

from runtime.plan.cost_coefficients import CostCoefficients

#: With which every longer part is worth it.
FREE_PARTS = CostCoefficients(repeat=100.0, state=100.0, settling=0.0, settle=0.0)
