"""Random workloads of sequences that share parts, and systems held against the enumerator."""

from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st

from baselines.suited import without_spread
from benchmarks.baselines.ours import Hamlet
from benchmarks.baselines.same import different
from benchmarks.baselines.system import System, Unsupported
from engine.judge import expected, found, leaving, parsed, table_of
from oracle.choices import Tape
from oracle.model import (
    Event,
    Leaf,
    Opt,
    Pattern,
    Plus,
    Query,
    Seq,
    Star,
    Window,
    query_names,
    subject,
)
from oracle.random_cases import EVENT_BYTES, Case, TypeDraw, draw_columns, draw_events, thinned
from oracle.random_queries import draw_aggregates, draw_keys, draw_returns, local_conditions

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

QUERIES, EVENTS, LOAD = 4, 18, 10
QUERY_BYTES = 80
LENGTH = 60 + QUERIES * QUERY_BYTES + EVENTS * EVENT_BYTES

BEFORE, INSIDE, AFTER = ("P", "Q"), ("A", "B", "C"), ("X", "Y")


def drawn() -> st.SearchStrategy[Case]:
    return st.binary(min_size=LENGTH, max_size=LENGTH).map(case_of)


def case_of(data: bytes) -> Case:
    """Queries with starts and ends of their own around a part that most of them have. In time most
    events are apart, some are not."""
    tape = Tape(data)
    head = tape.piece(60)
    window, (group_by, equivalence) = draw_window(head), draw_keys(head, "time")
    inside = draw_inside(head)
    frame = Query(Seq(inside), window=window, group_by=group_by, equivalence=equivalence)
    frame = replace(frame, local=local_conditions(head, frame.pattern))
    queries = tuple(
        draw_query(tape.piece(QUERY_BYTES), frame, f"q{n}") for n in range(head.number(1, QUERIES))
    )
    columns = draw_columns(head)
    types = TypeDraw(queries, guide=head.one_of(*queries))
    pieces = [tape.piece(EVENT_BYTES) for _ in range(head.number(6, EVENTS))]
    events = draw_events(pieces, types, columns, head.number(-9, 9), 1)
    some = thinned(tuple(events), queries, LOAD) or (Event(0, "A", dict.fromkeys(columns)),)
    return Case(queries, some, "strict", columns)


def draw_window(tape: Tape) -> Window:
    within = tape.one_of(20, 12, 8, 30)
    return Window(within, None if tape.chance(40) else tape.number(-(-within // 3), within))


def draw_inside(tape: Tape) -> tuple[Pattern, ...]:
    """At least one element that must come."""
    leaves = [Leaf(each) for each in INSIDE[: tape.number(1, 3)]]
    first = Plus(leaves[0]) if tape.chance(50) else leaves[0]
    return (first, *(_repeated(tape, leaf) for leaf in leaves[1:]))


def _repeated(tape: Tape, leaf: Leaf) -> Pattern:
    return tape.one_of(leaf, leaf, leaf, leaf, leaf, Plus(leaf), Plus(leaf), Star(leaf), Opt(leaf))


def draw_query(tape: Tape, frame: Query, name: str) -> Query:
    inside = frame.pattern.parts
    if tape.chance(20):
        inside = draw_inside(tape)
    before = tape.some_of([Leaf(each) for each in BEFORE], tape.number(0, 2))
    after = tape.some_of([Leaf(each) for each in AFTER], tape.number(0, 2))
    pattern = Seq((*before, *inside, *after))
    names = {part.type if isinstance(part, Leaf) else part.inner.type for part in inside}
    kept = tuple(each for each in frame.local if subject(each) in names)
    own = local_conditions(tape, pattern) if tape.chance(30) else ()
    window = draw_window(tape) if tape.chance(10) else frame.window
    aggregates = draw_aggregates(tape, pattern)
    query = replace(
        frame,
        name=name,
        pattern=pattern,
        window=window,
        local=(*kept, *own),
        returns=draw_returns(tape, aggregates, frame.group_by),
    )
    return without_spread(query)


def judge(system: System, case: Case) -> None:
    """Answers must be those of the enumerator to the last bit. Raises `Unsupported`."""
    prepared = system.prepare(parsed(case.text), table_of(case))
    wanted = expected(case)
    for _ in range(2):  # a second run finds nothing of the first
        prepared.ready()
        answers = prepared.run()
        for name, query in zip(query_names(case.queries), case.queries, strict=True):
            right = leaving(query, case.columns, wanted[name], "float")
            assert found(query, answers.get(name)) == right, f"query {name}\n{case.text}"


def taken(system: System, case: Case) -> bool:
    try:
        system.prepare(parsed(case.text), table_of(case))
    except Unsupported:
        return False
    return True


#: The least part of random cases that a system must take rather than refuse.
MOST = 0.75


def part_taken(system: System, cases: int = 60) -> float:
    random = Random(1)
    return sum(taken(system, case_of(random.randbytes(LENGTH))) for _ in range(cases)) / cases


REFUSED = {
    "skip-till-any-match only": "PATTERN SEQ(A, B+) SEMANTICS skip-till-next-match",
    "no adjacent conditions": "PATTERN SEQ(A, B+) WHERE B.x < NEXT(B).x",
    "no `P | Q`": "PATTERN SEQ(A, (B | C))",
    "repeats single types": "PATTERN (SEQ(A, B))+",
}


def refusal(system: System, clauses: str) -> str:
    """Why a system does not take a query."""
    table = pa.table({"time": [1, 2], "type": ["A", "B"], "x": [1.0, 2.0]})
    with pytest.raises(Unsupported) as refused:
        system.prepare(parsed(f"RETURN COUNT(*) {clauses} WITHIN 10 us"), table)
    return str(refused.value)


LONG = """
QUERY one RETURN key, COUNT(*), SUM(B.x) PATTERN SEQ(P, A, B+, C)
  GROUP-BY key WITHIN 60 us SLIDE 20 us
QUERY two RETURN key, COUNT(B), AVG(B.x) PATTERN SEQ(Q, B+, C, D)
  GROUP-BY key WITHIN 60 us SLIDE 20 us
QUERY three RETURN key, MIN(B.x), MAX(C.x) PATTERN SEQ(B+, C, D)
  GROUP-BY key WITHIN 60 us SLIDE 20 us
QUERY four RETURN COUNT(*), SUM(C.x) PATTERN SEQ(P, C, D, E)
  WHERE [key] WITHIN 200 us
QUERY five RETURN COUNT(*), SUM(E.x) PATTERN SEQ(Q, C, D, E)
  WHERE [key] WITHIN 200 us
QUERY six RETURN COUNT(*), MAX(D.x) PATTERN SEQ(A, C, D, E, Q)
  WHERE [key] WITHIN 200 us
QUERY seven RETURN COUNT(C), MIN(D.x) PATTERN SEQ(C, D, E, P)
  WHERE [key] WITHIN 200 us
"""


def long_stream(events: int = 900) -> pa.Table:
    """Some events have the same time."""
    draw = np.random.default_rng(3)
    types = np.array(["A", "B", "C", "D", "E", "P", "Q", "Z"])
    return pa.table(
        {
            "time": np.sort(draw.integers(0, events, events)),
            "type": types[draw.integers(0, len(types), events)],
            "key": draw.integers(0, 3, events),
            "x": draw.integers(-8, 8, events) / 2,
        }
    )


def difference_from_ours(system: System) -> str | None:
    workload, table = parsed(LONG), long_stream()
    wanted = Hamlet().prepare(workload, table).run()
    assert all(len(wanted[query.name]) for query in workload)
    prepared = system.prepare(workload, table)
    answers = prepared.run()
    assert prepared.state_bytes > 0
    return different(workload, answers, wanted)
