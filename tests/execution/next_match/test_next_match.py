"""The run of moving vectors: which queries it takes, and that it agrees with the general run, with
exact numbers and with the enumerator."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.judge import ARROW, SHARING, expected, judge, parsed, settings_of, table_of
from engine.lives import Life, expected_of_life, lived, named
from engine.test_against_enumerator import LIVES
from oracle.choices import Tape
from oracle.model import (
    CONTIGUOUS,
    NEXT,
    Aggregate,
    Attr,
    Compare,
    Const,
    Leaf,
    Opt,
    Or,
    Plus,
    Query,
    Seq,
    Star,
    Window,
    leaves,
)
from oracle.random_cases import EVENT_BYTES, Case, TypeDraw, draw_events
from plan.supporting import supports
from runtime.execution.operators.general.operator import GeneralOperator
from runtime.execution.operators.next_match.operator import NextMatchOperator
from runtime.language.parser import parse
from runtime.pipeline.engine import Engine, Results, aggregate
from runtime.plan.operators.next_match import NEXT_MATCH
from runtime.plan.sharing_plan import SharingPlan

PATTERNS = (
    "A",
    "A+",
    "SEQ(A, B)",
    "SEQ(A, B+)",
    "SEQ(A+, B, C*)",
    "SEQ(A?, (B | C)+)",
    "SEQ(A, B)+",
)
LANES = "COUNT(*), SUM(A.x) AS s, AVG(A.y) AS a, MIN(A.x) AS low, MAX(A.y) AS high, COUNT(A) AS n"


def text_of(pattern: str, semantics: str, window: str, where: str = "") -> str:
    return (
        f"QUERY q RETURN g, {LANES} PATTERN {pattern} SEMANTICS {semantics} "
        f"{where} GROUP-BY g WITHIN {window}"
    )


def stream(size: int, seed: int, gap: int = 2, groups: int = 3) -> pa.Table:
    """Some values are null, some times are equal."""
    draw = np.random.default_rng(seed)
    x = draw.integers(-5, 10, size)
    return pa.table(
        {
            "time": np.cumsum(draw.integers(0, gap, size)),
            "type": draw.choice(list("ABCD"), size),
            "x": pa.array(x, mask=x == 3),
            "y": draw.integers(-8, 8, size) / 2,
            "g": draw.integers(0, groups, size),
        }
    )


def run_of(engine: Engine) -> Any:
    """The one run of the one query of an engine."""
    (executor,) = engine.shard.backend.executors
    (run,) = executor.operators
    return run


def results(engine: Engine, table: pa.Table, cuts: tuple[int, ...] = ()) -> pa.Table:
    found: list[Results] = []
    borders = [0, *cuts, len(table)]
    for low, high in pairwise(borders):
        found.append(engine.process(table.slice(low, high - low)))
    found.append(engine.finish())
    tables = [each["q"] for each in found if "q" in each]
    return pa.concat_tables(tables, promote_options="default").sort_by(
        [("window_start", "ascending"), ("g", "ascending")]
    )


@pytest.mark.parametrize("ties", ["strict", "arrival"])
@pytest.mark.parametrize("window", ["40 us", "60 us SLIDE 7 us", "10 us SLIDE 10 us"])
@pytest.mark.parametrize("semantics", [NEXT, CONTIGUOUS])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_agrees_with_the_general_run(pattern: str, semantics: str, window: str, ties: str) -> None:
    where = "WHERE A.x < 8" if "A+" in pattern else ""
    text = text_of(pattern, semantics, window, where)
    table = stream(900, seed=len(pattern) + len(window))
    quick = Engine(text, ties=ties, time_unit="us")
    slow = Engine(text, ties=ties, time_unit="us", plan=SharingPlan(granularity={"q": "event"}))
    found = results(quick, table, (100, 101, 500))
    assert found.num_rows > 0
    assert found.equals(results(slow, table))
    assert isinstance(run_of(quick), NextMatchOperator)
    assert isinstance(run_of(slow), GeneralOperator)
    assert run_of(quick).statistics().open_windows == 0


TREES = (
    Leaf("A"),
    Plus(Leaf("A")),
    Seq((Leaf("A"), Leaf("B"))),
    Seq((Leaf("A"), Plus(Leaf("B")))),
    Seq((Plus(Leaf("A")), Leaf("B"), Star(Leaf("C")))),
    Seq((Opt(Leaf("A")), Plus(Or((Leaf("B"), Leaf("C")))))),
    Plus(Seq((Leaf("A"), Leaf("B")))),
)
COLUMNS = {"x": "int", "y": "double", "g": "int"}


def of_moves(data: bytes) -> Case:
    tape = Tape(data)
    tree = tape.one_of(*TREES)
    first = next(leaves(tree)).type
    returns = tuple(Aggregate(function, first, "x") for function in ("SUM", "MIN", "MAX", "AVG"))
    query = Query(
        tree,
        (Aggregate(), Aggregate("COUNT", first), *returns),
        Window(within := tape.number(1, 12), tape.number(1, within)),
        semantics=tape.one_of(NEXT, CONTIGUOUS),
        local=(Compare("<", Attr(first, "y"), Const(1.5)),) if tape.chance(30) else (),
        group_by=("g",) if tape.chance(40) else (),
    )
    pieces = [tape.piece(EVENT_BYTES) for _ in range(12)]
    types, start = TypeDraw((query,), query), tape.number(-9, 9)
    events = draw_events(pieces, types, COLUMNS, start, 1)
    return Case((query,), tuple(events), tape.one_of("strict", "arrival"), COLUMNS)


MOVES = st.binary(min_size=160, max_size=160).map(of_moves)
TYPES = {name: ARROW[kind] for name, kind in COLUMNS.items()}


@settings(max_examples=500, deadline=None)
@given(MOVES)
def test_equals_the_enumerator(case: Case) -> None:
    (query,) = parsed(case.text)
    assert supports(NEXT_MATCH, query, TYPES)
    for engine in SHARING:
        found = aggregate(parsed(case.text), table_of(case), **settings_of(case, engine))
        judge(case, found, expected(case), engine)


@settings(max_examples=300, deadline=None)
@given(MOVES, LIVES)
def test_does_not_depend_on_pieces_and_restarts(case: Case, life: Life) -> None:
    case = named(case)
    for engine in SHARING:
        judge(case, lived(case, life, engine), expected_of_life(case, life), engine)


# ---- what it takes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "clauses", "window"),
    [
        ("A+", "", "9 us"),
        ("SEQ(A, B, A)", f"SEMANTICS {NEXT}", "9 us"),
        ("SEQ(A, NOT C, B)", f"SEMANTICS {NEXT}", "9 us"),
        ("A+", f"SEMANTICS {CONTIGUOUS} WHERE LENGTH >= 3", "9 us"),
        ("A+", f"SEMANTICS {CONTIGUOUS} WHERE A.x < NEXT(A).x", "9 us"),
        ("A & B", f"SEMANTICS {NEXT}", "9 us"),
        ("A+", f"SEMANTICS {NEXT}", "9 EVENTS"),
    ],
)
def test_leaves_others_alone(pattern: str, clauses: str, window: str) -> None:
    (query,) = parse(f"RETURN COUNT(*) PATTERN {pattern} {clauses} WITHIN {window}")
    assert not supports(NEXT_MATCH, query, TYPES)


def test_unsigned_words_are_left_to_the_general_run() -> None:
    text = f"QUERY q RETURN MIN(A.u) AS m PATTERN A SEMANTICS {NEXT} WITHIN 9 us"
    engine = Engine(text, time_unit="us")
    table = pa.table({"time": [1], "type": ["A"], "u": pa.array([0], pa.uint64())})
    engine.process(table)
    assert isinstance(run_of(engine), GeneralOperator)
    assert engine.finish()["q"]["m"].to_pylist() == [0]


# ---- numbers, windows, partitions ----------------------------------------------------------


@pytest.mark.parametrize("semantics", [NEXT, CONTIGUOUS])
def test_counts_beyond_all_doubles(semantics: str) -> None:
    """Three events of each instant: what was there goes on by each of them, threefold."""
    size = 2_400
    times = np.arange(size) // 3
    table = pa.table({"time": times, "type": ["A"] * size, "x": np.arange(size) % 7 - 3})
    text = (
        "RETURN COUNT(*) AS n, SUM(A.x) AS s, MIN(A.x) AS m PATTERN A+ "
        f"SEMANTICS {semantics} WITHIN 10000 us"
    )
    (found,) = aggregate(text, table, time_unit="us").values()
    (exact,) = aggregate(text, table, time_unit="us", numeric="exact").values()
    count, total = Fraction(exact["n"][0].as_py()), Fraction(exact["s"][0].as_py())
    assert found["n_log2"][0].as_py() == pytest.approx(log2(count), rel=1e-12)
    assert found["s_log2"][0].as_py() == pytest.approx(log2(abs(total)), rel=1e-12)
    assert found["m"].to_pylist() == [-3]


def log2(whole: Fraction) -> float:
    size = whole.numerator.bit_length() - 60
    return size + float(np.log2(float(whole.numerator >> size)))


def test_values_beyond_what_is_added_up_plainly() -> None:
    table = pa.table({"time": [1, 2, 3], "type": ["A"] * 3, "x": [1e300, -1e300, 2.0]})
    text = f"RETURN SUM(A.x) AS s PATTERN A+ SEMANTICS {NEXT} WITHIN 9 us"
    (found,) = aggregate(text, table, time_unit="us").values()
    # (1), (1, 2), (1, 2, 3), (2), (2, 3), (3)
    assert found["s"][0].as_py() == pytest.approx(-1e300)


def test_a_query_that_joins_late_reports_later_windows() -> None:
    text = text_of("SEQ(A, B+)", NEXT, "40 us SLIDE 10 us")
    table = stream(600, seed=3)
    whole = results(Engine(text, time_unit="us"), table)
    other = "QUERY other RETURN COUNT(*) PATTERN A SEMANTICS contiguous WITHIN 9 us"
    engine = Engine(other, time_unit="us", lateness=5)
    engine.process(table.slice(0, 200))
    engine.add(text)
    late = results(engine, table.slice(200))
    first = late["window_start"][0].as_py()
    assert first > whole["window_start"][0].as_py()
    assert late.equals(whole.filter(pc.greater_equal(whole["window_start"], first)))


def test_rows_are_used_again() -> None:
    text = text_of("SEQ(A, B+)", NEXT, "40 us SLIDE 10 us")
    engine = Engine(text, time_unit="us", lateness=0)
    for part in range(40):
        table = stream(500, seed=part)
        table = table.set_column(0, "time", pc.add(table["time"], 300 * part))
        engine.process(table)
    assert len(run_of(engine)._vectors.rows) <= 128
    engine.finish()
    assert not run_of(engine).live(64).any()


def test_partitions_come_and_go() -> None:
    """More of them than are kept, so that their places are used again."""
    size = 60_000
    draw = np.random.default_rng(5)
    table = pa.table(
        {
            "time": np.arange(size),
            "type": draw.choice(list("AB"), size),
            "x": draw.integers(0, 9, size),
            "y": draw.random(size).round(1),
            "g": np.arange(size) // 12 + draw.integers(0, 3, size),
        }
    )
    text = text_of("SEQ(A, B+)", NEXT, "400 us SLIDE 200 us")
    quick = Engine(text, time_unit="us", lateness=0)
    cuts = tuple(range(2_000, size, 2_000))
    found = results(quick, table, cuts)
    slow = Engine(text, time_unit="us", plan=SharingPlan(granularity={"q": "event"}))
    assert found.equals(results(slow, table, cuts))
    assert len(run_of(quick)._vectors.slots) < 4_096 < len(table["g"].unique())


def test_takes_up_what_the_general_run_saved() -> None:
    """As versions before did that had no other run for such queries."""
    text, table = text_of("SEQ(A, B+)", NEXT, "40 us SLIDE 10 us"), stream(400, seed=8)
    by_event = SharingPlan(granularity={"q": "event"})
    before = Engine(text, time_unit="us", plan=by_event, lateness=5)
    first = before.process(table.slice(0, 200))
    after = Engine(text, time_unit="us", lateness=5)
    after.restore(before.checkpoint())
    assert isinstance(run_of(after), GeneralOperator)
    rest = results(after, table.slice(200))
    whole = results(Engine(text, time_unit="us"), table)
    assert pa.concat_tables([first["q"], rest]).num_rows == whole.num_rows
    assert rest.equals(whole.slice(whole.num_rows - rest.num_rows))
