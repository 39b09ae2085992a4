"""SHARON's executor (sharon.txt III): sequences that have segments in common are counted together.

By a plan, a segment that several queries contain is counted once, for each of its START events; a
query keeps what its own prefix came to at each START event, and multiplies. What is not shared is
counted as by A-Seq. Kleene is flattened, and the runs of a repeated type are a segment that all
lengths of all queries share.

Generous: as in A-Seq, prefixes are counts of a window; only shared segments are counted for each
START event. Prefix and segment are combined when somebody asks for the outcome, not with every END
event. One table serves the runs of all lengths, and the sequences of one query share what comes
before the first length in which they differ. The plan is SHARON's, by what this executor takes.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.baselines.answers import answer
from benchmarks.baselines.aseq import nothing
from benchmarks.baselines.decoded import Decoded, decoded
from benchmarks.baselines.elements import Element, elements, together
from benchmarks.baselines.flattened import longest, relevant
from benchmarks.baselines.peaks import peak
from benchmarks.baselines.sharon_graph import Graph, build
from benchmarks.baselines.sharon_kernel import run
from benchmarks.baselines.slices import slices
from benchmarks.baselines.system import Answers, Prepared, System
from runtime.language.query import Workload


class Sharon(System):
    name = "sharon"
    about = "keeps counts of prefixes that queries share; flattens Kleene"
    cannot = "nested Kleene, P | Q, adjacent conditions, semantics other than skip-till-any-match"
    generous = (
        "compiled; only shared parts have counts per START event; its plan uses costs measured on "
        "this executor; shares runs of all lengths of a flattened Kleene part; combines prefix and "
        "part when needed, not with every END event"
    )

    def prepare(self, workload: Workload, table: pa.Table) -> Prepared:
        parts = {query.name: elements(query, self.name) for query in workload}
        return _Prepared(decoded(workload, table), parts)


class _Prepared(Prepared):
    def __init__(self, queries: list[Decoded], parts: dict[str, tuple[Element, ...]]) -> None:
        self._groups = []
        for group in together(queries):
            found = slices(group[0])
            has = [longest(each, found) for each in group]
            self._groups.append((group, build(group, parts, has, found)))

    def run(self) -> Answers:
        answers: Answers = {}
        self.state_bytes = 0
        for group, graph in self._groups:
            answers |= self._group(group, graph)
        return answers

    def _group(self, group: list[Decoded], graph: Graph) -> Answers:
        found = slices(group[0])
        picked, begins, ends = relevant(found.order, found.begins, found.ends, graph.labelled)
        width = 1 + max(len(each.query.lanes) for each in group)
        totals = np.zeros((len(group), len(found), width))
        for number, each in enumerate(group):
            totals[number, :, : 1 + len(each.query.lanes)] = nothing(each, len(found))
        held = np.zeros(len(found), np.int64)
        run(group[0].time, picked, begins, ends, graph.arrays, totals, held)
        self.state_bytes += peak(found.window, 8 * held, group[0].query.window)
        return {
            each.query.name: answer(
                each, found.window, found.slot, totals[number, :, : 1 + len(each.query.lanes)]
            )
            for number, each in enumerate(group)
        }
