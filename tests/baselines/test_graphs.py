"""GRETA, event-grained aggregation, COGRA and SASE: against the enumerator, and against our engine
where there are too many trends to list."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from baselines.judging import check
from baselines.suited import suited_cases
from benchmarks.baselines.registry import system
from benchmarks.baselines.same import different
from benchmarks.baselines.system import Answers
from oracle.model import ANY, CONTIGUOUS, NEXT
from oracle.random_cases import Case, cases
from runtime.language.parser import parse

SYSTEMS = ("greta", "event-grained", "cogra", "sase")
RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def share_taken(name: str, drawn: st.SearchStrategy[Case], examples: int) -> float:
    taken = []

    @settings(max_examples=examples, suppress_health_check=RELAXED)
    @given(drawn)
    def each(case: Case) -> None:
        taken.append(check(name, case))

    each()
    return sum(taken) / len(taken)


@pytest.mark.parametrize("name", SYSTEMS)
def test_equals_the_enumerator(name: str) -> None:
    suited = suited_cases((ANY,)) if name == "greta" else suited_cases()
    assert share_taken(name, suited, 300) > 0.9


@pytest.mark.parametrize("name", SYSTEMS)
def test_is_right_about_what_it_takes_of_the_whole_language(name: str) -> None:
    assert share_taken(name, cases(), 150) > 0.0


# ---- longer streams -------------------------------------------------------------------------

CASES = {
    "sequence": "SEQ(A, B+, C)",
    "nested": "(SEQ(A+, B?))+",
    "choice": "SEQ(A, (B | C)*)",
    "compared": "SEQ(A, B+, C) WHERE A.x < NEXT(B).y AND B.x > NEXT(C).x",
    "rising": "A+ WHERE A.x <= NEXT(A).x AND A.y != NEXT(A).x",
}
SEMANTICS = (ANY, NEXT, CONTIGUOUS)
RETURNS = "g, COUNT(*), COUNT(A), SUM(A.x), AVG(B.x), MIN(A.y), MAX(B.y)"


def stream(events: int = 600) -> pa.Table:
    """Every other time is a tie; a tenth of the values is null, a twentieth of no type named."""
    draw = np.random.default_rng(8)
    numbers = {name: draw.normal(size=events) for name in "xy"}
    return pa.table(
        {
            "time": np.cumsum(draw.integers(0, 3, events)),
            "type": draw.choice(["A", "B", "C", "Z"], events, p=[0.4, 0.4, 0.15, 0.05]),
            "g": draw.integers(0, 3, events),
            **{
                name: pa.array(column, mask=draw.random(events) < 0.1)
                for name, column in numbers.items()
            },
        }
    )


def answers(name: str, text: str, table: pa.Table) -> Answers:
    return system(name).prepare(parse(text), table).run()


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("case", CASES)
def test_agrees_with_our_engine_on_hundreds_of_events(case: str, semantics: str) -> None:
    pattern, where, conditions = CASES[case].partition("WHERE")
    text = f"""
        RETURN {RETURNS if "B" in pattern else RETURNS.replace("B", "A")}
        PATTERN {pattern} SEMANTICS {semantics} {where}{conditions}
        GROUP-BY g WITHIN 150 us SLIDE 60 us
    """
    table = stream()
    ours = answers("hamlet", text, table)
    assert ours["q1"].num_rows > 10
    # Of the two-step system, only where trends are few enough to list.
    for name in ("event-grained", "cogra", "greta" if semantics == ANY else "sase"):
        assert different(parse(text), answers(name, text, table), ours) is None, name


def test_counts_beyond_a_double_spoil_nothing_else() -> None:
    """2^2000 trends: their count is infinite, the least and the largest value are what they are,
    and a value of nothing does not make a NaN of it."""
    table = stream(2_000).set_column(1, "type", pa.array(["A"] * 2_000))
    text = "RETURN COUNT(*), MIN(A.x), MAX(A.x), SUM(A.z) PATTERN A+ WITHIN 1 minute"
    table = table.append_column("z", pa.array(np.zeros(len(table))))
    x = table["x"].to_numpy()
    for name in ("greta", "cogra"):
        (row,) = answers(name, text, table)["q1"].to_pylist()
        assert row["COUNT(*)"] == np.inf
        assert (row["MIN(A.x)"], row["MAX(A.x)"]) == (np.nanmin(x), np.nanmax(x))
        assert row["SUM(A.z)"] == 0.0


# ---- what is stored -------------------------------------------------------------------------


def stored(name: str, pattern: str, events: int) -> int:
    times = pa.array(np.arange(events))
    table = pa.table({"time": times, "type": ["AB"[i % 2] for i in range(events)]})
    text = f"RETURN COUNT(*) PATTERN {pattern} WITHIN 1 second"
    prepared = system(name).prepare(parse(text), table)
    prepared.run()
    return prepared.state_bytes


def test_stores_what_the_papers_count() -> None:
    # COGRA: aggregates, however many events. GRETA: a node an event (time and count), and a total.
    assert stored("cogra", "SEQ(A, B)", 10) == stored("cogra", "SEQ(A, B)", 1_000) > 0
    assert stored("greta", "SEQ(A, B)", 1_000) == 16 * 1_000 + 8
