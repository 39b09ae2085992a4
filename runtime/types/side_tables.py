"""Names of the tables that a run writes beside the results of its queries."""

DEAD_LETTER = "_dead_letter"
LATE = "_late"
