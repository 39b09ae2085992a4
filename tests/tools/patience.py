"""How long tests wait for what has to happen."""

#: Only what hangs takes longer, on a busy machine too.
PATIENCE_S = 300.0
