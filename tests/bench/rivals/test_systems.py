"""Each system against the enumerator, over a small stream, in one process for all queries."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from benchmarks._rivals.classes import class_path
from benchmarks._rivals.job import SEMANTICS, Job, Query
from benchmarks._rivals.process import Process
from benchmarks._rivals.systems import RIVALS
from oracle import model
from oracle.enumerator import enumerate_query
from runtime.errors import HamletError

WITHIN = 10
QUERIES = (
    *(Query(each.replace("-", "_"), each) for each in SEMANTICS),
    Query("sequence", kleene=False),
    Query("others", start="B", middle="D", end="A"),
)


def stream(seed: int = 21) -> pa.Table:
    draw = np.random.default_rng(seed)
    size = 5 * WITHIN
    kept = np.sort(draw.choice(size, size - 8, replace=False))
    return pa.table(
        {
            "time": kept,
            "type": draw.choice(["A", "B", "B", "B", "C", "D"], len(kept)),
            "x": draw.integers(-3, 10, len(kept)).astype(float),
        }
    )


def enumerated(query: Query, table: pa.Table) -> dict[tuple[str, int], tuple[float, float]]:
    middle = model.Leaf(query.middle)
    pattern = model.Seq(
        (
            model.Leaf(query.start),
            model.Plus(middle) if query.kleene else middle,
            model.Leaf(query.end),
        )
    )
    asked = model.Query(
        pattern,
        (model.Aggregate(label="n"), model.Aggregate("SUM", query.middle, "x", "s")),
        model.Window(WITHIN),
        semantics=query.semantics,
    )
    events = [model.Event(row["time"], row["type"], {"x": row["x"]}) for row in table.to_pylist()]
    rows = enumerate_query(asked, events)
    return {
        (query.name, start // WITHIN): (float(row["n"]), float(row["s"]))
        for (start, _, _), row in rows.items()
    }


def needed(name: str) -> None:
    """The archives of a Java system, fetched and compiled with."""
    if name in ("flink", "esper"):
        try:
            class_path(name)
        except HamletError as error:
            if "cannot fetch" in str(error):
                pytest.skip(f"tool: {error}")
            raise


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Process]]:
    processes: list[Process] = []
    yield processes
    for process in processes:
        process.end()


@pytest.mark.parametrize("name", RIVALS)
def test_a_system_gives_what_the_enumerator_lists(
    name: str, tmp_path: Path, started: list[Process]
) -> None:
    needed(name)
    table = stream()
    rival = RIVALS[name]
    able = [query for query in QUERIES if rival.cannot(Job((query,), table, WITHIN)) is None]
    Job(tuple(able), table, WITHIN).write(tmp_path / "job")
    process = Process(rival, tmp_path / "job", tmp_path / "log", 512)
    started.append(process)
    process.ready()
    wanted = {key: row for query in able for key, row in enumerated(query, table).items()}
    assert {query for query, _ in wanted} == {query.name for query in able}
    for _ in range(2):  # nothing is left of the first
        told = process.run(300)
        assert {(query, win): (n, s) for query, win, n, s in told["rows"]} == wanted
        assert len(told["rows"]) == len(wanted)
        assert told["wall"] > 0
        assert told["cpu"] >= 0
    assert process.peak_bytes() >= process.started_bytes > 0
    # another job in the same process: one query, other events
    other = Job(tuple(able[:1]), stream(seed=22), WITHIN)
    other.write(tmp_path / "other")
    process.load(tmp_path / "other")
    told = process.run(300)
    assert {(query, win): (n, s) for query, win, n, s in told["rows"]} == enumerated(
        able[0], other.table
    )


def test_all_but_joins_express_all_queries() -> None:
    table = stream()
    unable = {
        (name, query.name)
        for name, rival in RIVALS.items()
        for query in QUERIES
        if rival.cannot(Job((query,), table, WITHIN)) is not None
    }
    assert unable == {
        *(("spark-join", each) for each in ("skip_till_any_match", "others")),
        *(
            (f"{engine}-join", each)
            for engine in ("spark", "duckdb")
            for each in ("skip_till_next_match", "contiguous")
        ),
    }
