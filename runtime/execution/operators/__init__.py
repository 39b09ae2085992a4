"""One physical operator per folder, each with its plan, state and kernels."""
