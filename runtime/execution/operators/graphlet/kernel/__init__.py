"""The kernel of a share group: events in arrival order in, totals of closed windows out.

Every partition has a row of 64-bit words, read as integers (`ri`) or as doubles (`rf`):

    head | what the running burst has come to | numbers of every query, vector and state

While a **burst** runs (events of one type, with no other relevant type between them), an event
only adds to the burst's sums; when it ends, its closed-form operator is applied once to every
query's **snapshot** (`flush`). A *vector* holds the numbers of all states of a query, for one
open window or, in pane mode, for one basis vector of the pane's operator. Queries of one *form*
(the same pattern but for the names of types, the same lanes and windows) lie side by side: the
words of all vectors for each of them, then the next lane, the next state. So one operator is
applied to all vectors of all of them in loops over neighbouring words.

A number is a mantissa in the row; its exponent lives at the same place of `ex`, which is looked
at only in rows that are marked BIG: most never are. MIN and MAX are whole numbers that keep the
order (MAX complemented), so both are a `min`.

The upper-case names of `record` marked `shape` are constants of a workload's shape, and `steps` is
what its merged template does with an event: `kernel_template.py` writes a copy of this folder with
other ones, so that loops unroll and unused parts fall away. All else that is known of a workload
comes as one array `tab`, laid out by `layout.py`; `wi` and `wf` are two views of one array for
settings, counters and scratch, `pi` and `pf` of the events that wait, `oi` and `of` of the results.
They all come as one handle `h`.
"""

from .loop import run
from .timing import measure
from .windows import settle_all, sweep, sweep_counted

__all__ = ["measure", "run", "settle_all", "sweep", "sweep_counted"]
