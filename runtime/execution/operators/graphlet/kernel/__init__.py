"""The kernel of a share group: events in arrival order in, totals of closed windows out.

Every partition has a row of 64-bit words, read as integers (`ri`) or as doubles (`rf`):

    head | sums of the current burst | numbers of every query, vector and state

During a **burst** (events of one type, with no other relevant type between them), an event only
adds to the burst's sums; when it ends, its closed-form operator is applied once to every query's
**snapshot** (`flush`). A *vector* holds the numbers of all states of a query, for one open window
or, in pane mode, for one basis vector of the pane's operator. Queries of one *row class* (the
same pattern except for the names of types, the same lanes and windows) are contiguous: the words of
all vectors for each of them, then the next lane, the next state. So loops over adjacent words apply
one operator to all vectors of all of them.

A number is a mantissa in the row; its exponent is at the same index of `ex`, which is read only in
rows marked BIG: most never are. MIN and MAX are integers of the same order (MAX complemented), so
both are a `min`.

The upper-case names of `record` marked `shape` are constants of a workload's shape, and `steps` is
the code of its merged template: `kernel_template.py` writes a copy of this folder with other ones,
so that loops unroll and unused code is removed. Everything else about a workload is in one array
`tab`, laid out by `plan_tables.py`; `wi` and `wf` are two views of one array for settings, counters
and scratch, `pi` and `pf` of the buffered events, `oi` and `of` of the results. One handle `h`
contains them all.
"""

from .loop import run
from .timing import measure
from .windows import settle_all, sweep, sweep_counted

__all__ = ["measure", "run", "settle_all", "sweep", "sweep_counted"]
