"""The offsets of words in a row, in the tables, in the settings and in results."""

from __future__ import annotations

import numpy as np

from runtime.execution.wide_float import LARGE

ATTRS = 2  # shape: summed attributes of a type, at most
MINS = 2  # shape: minima and maxima of a type or a query, at most
LANES = 4  # shape: sums that a query carries besides its count, at most
BUFFERS = True  # shape: whether events may wait for the end of their burst
SLIDING = True  # shape: whether some windows overlap
PARTS = True  # shape: whether queries share parts longer than one type
ORDERED = True  # shape: whether events may be taken out of their order

# Words of a row's head; those that every event touches come first.
END, TYPE, COUNT, ACC = 0, 1, 2, 3
MIN_AT = ACC + 2 * ATTRS
FLAGS = MIN_AT + MINS
WAITING, BLOCK = FLAGS + BUFFERS, FLAGS + 2 * BUFFERS
BURSTS, LAST = BLOCK + SLIDING, BLOCK + 2 * SLIDING
STATES_AT = LAST + 1
# From PENDING on, a flag for each shared part that has changed since it was last settled.
BIG, PANE_MODE, WAS_SHARED, WAS_SPLIT, PENDING = 1, 2, 4, 8, 16

# `tab`: the offsets of its tables, then the tables.
(T_TYPES, T_ROW_CLASSES, T_FULL, T_ATTRS, T_MINS, T_BITS, T_ENTRIES, T_ROW_CLASS, T_PREDS, T_LASTS,
 T_SINCE, T_NUMBERS, T_WIDE, T_PARTS, T_PART, T_TOUCHED, T_STEPPED, T_TIED, T_RUNS,
 T_STEPS) = range(20)  # fmt: skip
T_SIZE = 24
# An entry: a state of contiguous queries (the first, and how many) that events of a type enter.
# Sorted by type, then by the bit of the condition. The wide entries of a type treat all its
# conditions as one: they are for bursts on which all queries agree. E_PREVIOUS and E_NEXT are the
# contiguous entries of the previous and the next bit, or 0. Sums that no event before or in a state
# adds to stay zero: E_ACTIVE is the number of the other sums of the state, E_LIVE the start of
# the preceding states that have such sums.
(E_STATE, E_LOOP, E_FIRST, E_BIT, E_ROW_CLASS, E_PREDS, E_PREDS_END, E_PLACE, E_QUERIES, E_PREVIOUS,
 E_NEXT, E_ACTIVE, E_LIVE, E_STEPS, E_STEP, E_ALIKE, E_LANES) = range(17)  # fmt: skip
E_MINS = E_LANES + LANES
E_SIZE = E_MINS + MINS
# A step, an entry from at most one state into one that does not repeat: the offset of its queries'
# words in a vector, that of the preceding state (-1: trends start), the number of queries,
# E_ACTIVE, whether the preceding state has sums, and the entry. The steps of a type and bit come
# first: E_STEPS is their number from an entry on, E_STEP the offset of the first description.
# Entries of a type with the same E_ALIKE differ only in their offsets.
S_ROW_CLASS, S_TO, S_FROM, S_QUERIES, S_ACTIVE, S_LIVE, S_ENTRY = range(7)
S_SIZE = 8
(RC_WINDOWS, RC_COLUMNS, RC_OPEN, RC_STATES, RC_LANES, RC_MINS, RC_WITHIN, RC_SLIDE, RC_BLOCK,
 RC_EVEN, RC_QUERIES, RC_FIRST) = range(12)  # fmt: skip
RC_SIZE = 12
# A shared part: its row class, its states and how many of them are inside, and its runs of
# contiguous queries. A run has for each column whether trends start there and the states that feed
# it, then the lanes and minima of the part that feed its own.
P_ROW_CLASS, P_STATES, P_INSIDE, P_RUNS, P_RUNS_END = range(5)
P_SIZE = 5
R_ROW_CLASS, R_PLACE, R_QUERIES, R_COLUMNS = range(4)

# `wi` and `wf`: settings and counters, scratch, counters of decisions by type, the log.
(W_RESULTS, W_FREE, W_LEFT, W_PANE, W_SHARING, W_MOST_RESULTS, W_STRATEGY, W_LONGEST, W_SAMPLE,
 W_LOGGED, W_DECISIONS, W_LOG, W_LOG_SIZE, W_BEFORE, W_BEFORE_E, W_GROWN, W_MERGED,
 W_VERSION, W_CROSSED, W_SETTLED) = range(20)  # fmt: skip
W_POLICY, W_PARTS = 20, 32
W_LEAST = W_PARTS + 2 + 2 * ATTRS
W_PICKS = W_LEAST + MINS
W_CLASS = W_PICKS + 64
W_LAST = W_CLASS + 64
W_END = W_LAST + 64
# The decisions of a type: first the number of each kind; the number and the nanoseconds of the
# timed ones, shared and split; and the expected number of classes.
(D_EVENTS, D_SNAPSHOTS, D_ALL, D_BENEFIT, D_SHARED, D_SHARED_NS, D_SPLIT, D_SPLIT_NS,
 D_CLASSES) = range(4, 13)  # fmt: skip
D_SIZE = 13
# Now and then the kernel does the opposite, to measure its cost: one in 16 bursts of a type that
# would be split is shared, one in 4096 that would be shared by classes is split (it may cost many
# times as much), and one in 1024 panes that would be updated window by window is crossed.
# Bursts are sampled by their numbers, so these numbers are among the sampled ones.
LOOK_AGAIN, LOOK_APART, LOOK_ACROSS = 15, 4_095, 1_023
APART_AT = 2_049
# So many crossings are timed after samples were taken, then one in 64.
FIRST_CROSSINGS, CROSSINGS = 16, 63
# A sample: L_COMPARED are the nanoseconds that comparing conditions took, of all L_NS; L_APPLIED
# to how many vectors operators were applied, several queries side by side being one; L_JOINED how
# many of these were of several queries of a class, L_STEPPED how many vectors of single queries
# there are in all. Of a crossing, L_APPLIED are the numbers carried. L_EXPECTED are the classes and
# L_EACH the vectors of a query that the benefit was predicted with.
(L_TYPE, L_KIND, L_EVENTS, L_SNAPSHOTS, L_CLASSES, L_QUERIES, L_BENEFIT, L_NUMBER, L_NS,
 L_VERSION, L_WAY, L_CONDITIONS, L_COMPARED, L_APPLIED, L_JOINED,
 L_STEPPED, L_EXPECTED, L_EACH) = range(18)  # fmt: skip
L_SIZE = 18
# What was done: an event of `always`, agreed and shared, shared by classes, split, a pane crossed.
SINGLE, AGREED, CLASSES, APART, CROSSED = range(5)

# What a lane takes from a burst: nothing, its events, or (2 + 2a, 3 + 2a) the sum and the number
# of the values of an attribute.
NOTHING, EVENTS_OF = 0, 1
NEVER, ALWAYS, DYNAMIC = 0, 1, 2
VECTORS, PANES = 1, 2
SHARED, SPLIT, MERGED, CONTINUED = 0, 1, 2, 3
C_PICK, C_COMPARE, C_OPERATOR, C_SCAN, C_APPLY, C_JOIN, C_PANE = range(7)
POLICY_SIZE = 7

NO_TYPE = -1
UNBORN = -(2**63)  # the END of a row without open windows
NEUTRAL = 2**63 - 1
LIMIT = LARGE * 2.0**-64  # plain doubles stay below, so that what they are stepped to is normal
MODEST = 2.0**50  # times LIMIT, and some of that, is still below LARGE
EXACT_POWER = 400  # the largest burst whose 2**c is multiplied without an exponent
POWERS = 2.0 ** np.arange(EXACT_POWER + 1)
# Where the entries of each bit begin, where the last ones end, all their queries, and whether
# sharing is decided: for types that several queries repeat.
BITS_SIZE = 67
BURST = 64  # the most events that wait: which of them were picked are the bits of a word
BLOCK_SIZE = BURST * (1 + ATTRS + MINS)
OUT_NUMBERS = 3  # query, window and slot come first
OUT_MINS = OUT_NUMBERS + 2 * (1 + LANES)
OUT_SIZE = OUT_MINS + MINS
# Where the last results of a query without GROUP-BY lie, by window; its partitions add up there.
NO_ROW, OWN_ROWS = -1, -2
MERGED_WINDOWS = 64
