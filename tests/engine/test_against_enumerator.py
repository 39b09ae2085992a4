"""The plain engine against the naive enumerator, over all of the language."""

from dataclasses import replace
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from engine.judge import judge, refused_with_reason, table_of
from oracle.choices import Size, Tape
from oracle.model import CONTIGUOUS, NEXT, And, Leaf, Plus, Query, Seq, Window, workload_text
from oracle.random_cases import EVENT_BYTES, Case, TypeDraw, cases, draw_events
from oracle.random_patterns import PatternDraw
from runtime.engine import Engine, aggregate
from runtime.errors import WorkloadError
from runtime.language.parser import parse

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def accepted(case: Case) -> Case:
    """The case without the queries that the language refuses for an alias that is not unique."""
    kept = tuple(query for query in case.queries if not refused(query))
    if not kept:
        reject()
    return replace(case, queries=kept)


def refused(query: Query) -> bool:
    try:
        parse(workload_text((query,)))
    except WorkloadError as error:
        if refused_with_reason(error):
            return True
        raise
    return False


def whole_input(drawn: Case) -> None:
    case = accepted(drawn)
    options = {"numeric": "exact", "ties": case.ties, "time_unit": "us"}
    judge(case, aggregate(case.text, table_of(case), **options))


def cut_input(drawn: Case, cuts: list[int], *, restart: bool = False) -> None:
    """The same stream in order, in pieces, with a watermark after each piece; perhaps with a new
    engine that takes up the checkpoint of the one before."""
    case = accepted(drawn)

    def new_engine() -> Engine:
        return Engine(case.text, numeric="exact", ties=case.ties, time_unit="us")

    engine = new_engine()
    table = table_of(case)
    table = table.take(pc.sort_indices(table["time"]))  # stable
    tables: dict[str, list[pa.Table]] = {}
    borders = [0, *sorted(min(cut, table.num_rows) for cut in cuts), table.num_rows]
    for start, stop in pairwise(borders):
        piece = table.slice(start, stop - start)
        collect(tables, engine.process(piece))
        if piece.num_rows:
            collect(tables, engine.advance(piece["time"][-1].as_py()))
        if restart:
            saved = engine.checkpoint()
            engine = new_engine()
            engine.restore(saved)
    collect(tables, engine.finish())
    assert engine.late_rows == 0
    judge(case, {name: pa.concat_tables(parts) for name, parts in tables.items()})


def collect(tables: dict[str, list[pa.Table]], results: dict[str, pa.Table]) -> None:
    for name, table in results.items():
        tables.setdefault(name, []).append(table)


@settings(max_examples=1_500, suppress_health_check=RELAXED)
@given(cases())
def test_equals_the_enumerator(case: Case) -> None:
    whole_input(case)


@settings(max_examples=700, suppress_health_check=RELAXED)
@given(cases(), st.lists(st.integers(0, 14), max_size=4))
def test_does_not_depend_on_where_batches_are_cut(case: Case, cuts: list[int]) -> None:
    cut_input(case, cuts)


@settings(max_examples=400, suppress_health_check=RELAXED)
@given(cases(), st.lists(st.integers(0, 14), max_size=3))
def test_a_restart_from_a_checkpoint_changes_nothing(case: Case, cuts: list[int]) -> None:
    cut_input(case, cuts, restart=True)


def of_pairs(data: bytes) -> Case:
    """`P & Q` where both begin alike, so that a partial trend is often one of both sides, and an
    event that extends it on one side does not on the other."""
    tape = Tape(data)
    sides = [
        Seq((Plus(Leaf("A")) if tape.chance(50) else Leaf("A"), drawn.side()))
        for drawn in (PatternDraw(tape.piece(40), ("A", "B", "C"), Size(leaves=3)) for _ in "PQ")
    ]
    semantics = tape.one_of(NEXT, NEXT, NEXT, CONTIGUOUS)
    query = Query(And(*sides), window=Window(20), semantics=semantics)
    types, start = TypeDraw((query,), query), tape.number(-9, 9)
    pieces = [tape.piece(EVENT_BYTES) for _ in range(8)]
    events = draw_events(pieces, types, columns := {"x": "int"}, start, 1)
    return Case((query,), tuple(events), tape.one_of("strict", "arrival"), columns)


@settings(max_examples=400, suppress_health_check=RELAXED)
@given(st.binary(min_size=200, max_size=200).map(of_pairs))
def test_pairs_of_trends_equal_the_enumerator(case: Case) -> None:
    whole_input(case)


@pytest.mark.slow
@pytest.mark.parametrize("tenth", range(10))  # so that both test processes have work
@settings(max_examples=5_000, suppress_health_check=RELAXED)
@given(cases())
def test_equals_the_enumerator_in_50_000_cases(tenth: int, case: Case) -> None:
    whole_input(case)
