"""A point and a sweep: who gives up is told, who differs is an error. DuckDB starts quickest."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from benchmarks import rivals
from benchmarks._rivals import measure as measuring
from benchmarks._rivals import plots, sql, store
from benchmarks._rivals.cases import CASES, any_match, many, next_match
from benchmarks._rivals.classes import class_path
from benchmarks._rivals.job import Job
from benchmarks._rivals.measure import Effort, WorkerPool, measure, settled
from benchmarks._rivals.section import section
from benchmarks._rivals.systems import RIVALS, SqlRival
from runtime.errors import HamletError

EFFORT = Effort(limit_s=300, warm_s=0, repeats=5, java_warm_s=0)
ANY = CASES[0]


def silent(line: str) -> None:
    pass


def test_systems_take_turns_and_agree() -> None:
    found = measure(any_match(8), ["duckdb-join", "duckdb-window"], EFFORT, silent)
    assert [each.outcome for each in found] == ["ended", "ended"]
    assert all(len(each.seconds) == len(each.cpu_seconds) == 5 for each in found)
    assert all(each.peak_bytes > 0 for each in found)


class Scripted:
    """A system whose runs take what is written down, and the last of it from then on."""

    started_bytes = 1

    def __init__(self, name: str, seconds: list[float], told: list[str]) -> None:
        self._name, self._seconds, self._told = name, seconds, told

    def run(self, limit_s: float) -> dict[str, Any]:
        self._told.append(self._name)
        seconds = self._seconds.pop(0) if len(self._seconds) > 1 else self._seconds[0]
        CLOCK[0] += seconds
        return {"wall": seconds, "cpu": seconds, "rows": [("any", 0, 1.0, 1.0)]}

    def ready(self) -> None:
        pass

    def load(self, folder: Path) -> None:
        self._told.append(f"{self._name} loads")

    def peak_bytes(self) -> int:
        return 2

    def end(self) -> None:
        self._told.append(f"{self._name} ends")


CLOCK = [0.0]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, list[float]], list[str]]:
    """What runs of systems take, to be written; and what systems were asked for."""
    seconds: dict[str, list[float]] = {}
    told: list[str] = []
    monkeypatch.setattr(measuring, "time", SimpleNamespace(monotonic=lambda: CLOCK[0]))
    monkeypatch.setattr(
        measuring, "Process", lambda rival, *_: Scripted(rival.name, seconds[rival.name], told)
    )
    return seconds, told


def test_the_order_of_systems_rotates(
    scripted: tuple[dict[str, list[float]], list[str]],
) -> None:
    seconds, told = scripted
    names = ["hamlet", "flink", "esper"]
    seconds |= {name: [1.0] for name in names}
    measure(any_match(8), names, EFFORT, silent)
    turns = [told[place : place + 3] for place in range(0, 18, 3)]
    assert turns[0] == names  # warming up
    shifted = [names[turn % 3 :] + names[: turn % 3] for turn in range(5)]
    assert turns[1:] == shifted


def test_systems_warm_up_until_times_settle(
    scripted: tuple[dict[str, list[float]], list[str]],
) -> None:
    seconds, told = scripted
    seconds |= {"hamlet": [1.0], "duckdb-join": [0.2] * 4 + [0.1], "flink": [1.0]}
    effort = Effort(limit_s=60, warm_s=1, repeats=0, java_warm_s=10)
    measure(any_match(8), ["hamlet", "duckdb-join", "flink"], effort, silent)
    assert told.count("hamlet") == 2  # twice the time, as there are too few to compare
    # after 8 runs the last four are faster; three more, and the median of those before falls, too
    assert told.count("duckdb-join") == 11
    assert told.count("flink") == 10


def test_java_that_goes_on_getting_faster_warms_up_for_twice_the_time(
    scripted: tuple[dict[str, list[float]], list[str]],
) -> None:
    seconds, _ = scripted
    seconds["flink"] = [4 * 0.9**n for n in range(100)]
    began = CLOCK[0]
    measure(any_match(8), ["flink"], Effort(60, 1, 0, java_warm_s=10), silent)
    assert 20 <= CLOCK[0] - began < 24


def test_a_process_is_kept_from_point_to_point_and_warm(
    scripted: tuple[dict[str, list[float]], list[str]],
) -> None:
    seconds, told = scripted
    seconds["flink"] = [0.5]
    with WorkerPool(Effort(60, 1, 0, java_warm_s=10)) as pool:
        pool.measure(any_match(8), ["flink"], silent)
        first = told.count("flink")
        (found,) = pool.measure(any_match(8), ["flink"], silent)
    assert (first, told.count("flink") - first) == (20, 8)
    assert [line for line in told if line != "flink"] == ["flink loads", "flink ends"]
    assert (found.outcome, found.peak_bytes) == ("ended", 2)


def test_only_the_first_run_of_a_new_process_may_take_longer(
    scripted: tuple[dict[str, list[float]], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds, _ = scripted
    seconds["flink"] = [8.0, 1.0]
    limits: list[float] = []
    run = Scripted.run

    def noted(self: Scripted, limit_s: float) -> dict[str, Any]:
        limits.append(limit_s)
        return run(self, limit_s)

    monkeypatch.setattr(Scripted, "run", noted)
    with WorkerPool(Effort(5, 1, 1, java_warm_s=6)) as pool:
        pool.measure(any_match(8), ["flink"], silent)
        pool.measure(any_match(8), ["flink"], silent)
    assert limits[0] == 5 + 12
    assert set(limits[1:]) == {5}


def test_times_have_settled_when_they_fall_no_more() -> None:
    assert not settled([1.0] * 7)
    assert settled([1.0] * 8)
    assert settled([1.0] * 4 + [0.95] * 4)
    assert not settled([1.0] * 4 + [0.8] * 4)
    assert settled([5.0] * 10 + [1.0] * 8)


def test_java_has_its_own_time_to_warm_up_when_new() -> None:
    effort = Effort(warm_s=1, java_warm_s=6)
    assert effort.warming(java=False, fresh=True) == (1, 2)
    assert effort.warming(java=True, fresh=True) == (6, 12)
    assert effort.warming(java=True, fresh=False) == (1, 12)
    assert {name for name, each in RIVALS.items() if each.java} == {
        "flink",
        "esper",
        "spark-join",
        "spark-window",
    }


def test_what_cannot_be_expressed_is_refused_with_the_reason() -> None:
    (found,) = measure(next_match(20), ["duckdb-join"], EFFORT, silent)
    assert (found.outcome, found.seconds) == ("cannot", [])
    assert "which event comes next" in found.reason


def test_a_heap_that_runs_out_is_recorded() -> None:
    (found,) = measure(any_match(30), ["duckdb-join"], Effort(300, 0, 1, heap_mb=64), silent)
    assert (found.outcome, found.reason) == ("out of memory", "64 MB were not enough")


def test_a_heap_of_java_that_runs_out_is_recorded() -> None:
    try:
        class_path("esper")
    except HamletError as error:
        if "cannot fetch" in str(error):
            pytest.skip(f"tool: {error}")
        raise
    (found,) = measure(any_match(20), ["esper"], Effort(300, 0, 1, heap_mb=32), silent)
    assert found.outcome == "out of memory"
    assert found.peak_bytes == 0  # nobody is left to ask


def test_who_gave_up_is_not_tried_with_more() -> None:
    effort = Effort(limit_s=0.001, warm_s=0, repeats=1)
    rows = rivals.sweep(ANY, (8, 12), effort, silent, ["duckdb-join"])
    assert [(row["size"], row["outcome"]) for row in rows] == [(8, "not ended"), (12, "not tried")]
    assert rows[1]["reason"] == "it gave up at 8"


def test_answers_that_differ_are_an_error() -> None:
    point = measuring._Point(any_match(8), Path(), EFFORT, {})
    row = ["any", 0, 3.0, 7.0]
    point._check("one", measuring._answers(any_match(8), [row]))
    with pytest.raises(HamletError, match=r"two and one do not agree: query any.*n is 4"):
        point._check("two", measuring._answers(any_match(8), [["any", 0, 4.0, 7.0]]))
    with pytest.raises(HamletError, match="1 rows are missing"):
        point._check("three", measuring._answers(any_match(8), []))


def test_jobs_survive_their_files(tmp_path: Path) -> None:
    for case in CASES:
        job = case.job(case.quick[0])
        job.write(tmp_path / case.name)
        again = Job.read(tmp_path / case.name)
        plain = [column.cast(pa.string()) for column in (job.table["type"], again.table["type"])]
        assert plain[0].to_pylist() == plain[1].to_pylist()
        assert again.table.drop("type").equals(job.table.drop("type"))
        assert (again.queries, again.within) == (job.queries, job.within)


def test_a_statement_is_for_the_types_of_its_query() -> None:
    query = CASES[-1].job(2).queries[1]
    text = sql.statement(sql.JOIN_SEQUENCE, query)
    assert "a.type = 'A1' AND b.type = 'B' AND c.type = 'C1'" in text


@pytest.mark.parametrize("name", ["duckdb-join", "duckdb-window", "spark-window"])
def test_several_queries_are_one_statement(name: str) -> None:
    rival = RIVALS[name]
    assert isinstance(rival, SqlRival)
    queries = many(3).queries
    (alone,), (together,) = rival.statements(queries[:1]), rival.statements(queries)
    assert "'A0'" in alone.text
    assert together.queries == queries
    assert sql.roles([alone]).num_rows == 0
    assert sql.roles([together]).to_pylist()[3:6] == [
        {"name": "q1", "type": "A1", "role": "A"},
        {"name": "q1", "type": "B", "role": "B"},
        {"name": "q1", "type": "C1", "role": "C"},
    ]


def test_a_workload_has_a_line_in_its_plots() -> None:
    assert all(len(case.quick) > 1 for case in CASES)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Hamlet ended everywhere; others ran out of memory, Flink out of time."""
    outcomes = {"hamlet": "ended", "flink": "not ended"}
    rows = [
        {
            "case": case.name,
            "size": size,
            "events": 4 * size,
            "queries": 1,
            "system": name,
            "outcome": outcomes.get(name, "out of memory"),
            "reason": "" if name == "hamlet" else "too much",
            "seconds": [0.001, 0.002, 0.004] if name == "hamlet" else [],
            "cpu_seconds": [0.001, 0.002, 0.003] if name == "hamlet" else [],
            "peak_bytes": 250 * 2**20,
            "started_bytes": 2**20,
        }
        for case in CASES
        for size in case.quick
        for name in RIVALS
    ]
    store.write(rows, EFFORT, True, tmp_path)
    return tmp_path


def test_the_section_is_made_of_what_was_stored(stored: Path) -> None:
    text = section(stored, "images")
    assert text.startswith("## Other systems")
    assert all(case.title in text for case in CASES)
    assert "2 ms (1 to 4), CPU 2 ms, 250 MB" in text
    assert "out of memory" in text
    assert "followedByAny" in text
    assert "every a=Event" in text
    assert "WITH RECURSIVE" in text
    assert section(stored, "images") == text


def test_plots_have_time_and_memory_and_who_did_not_end(stored: Path) -> None:
    drawn = plots.plots(stored)
    text = section(stored, "images")
    assert len(drawn) == 2 * len(CASES)
    assert all(f"(images/{name})" in text for name in drawn)
    time, memory = (drawn[plots.name(ANY, shows)].decode() for shows in plots.SHOWN)
    for each in (time, memory):
        assert "(not ended in 300 s)" in each
        assert "(out of memory)" in each
    # an open marker and an arrow stand where a limit is known: Flink's time, the others' memory
    assert time.count("fill: none; stroke: #d55e00") > memory.count("fill: none; stroke: #d55e00")
    assert memory.count("fill: none; stroke: #009e73") > time.count("fill: none; stroke: #009e73")
    assert plots.plots(stored) == drawn


def test_the_command_writes_measurements_plots_and_a_page(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, _ = store.read(stored)
    by_case = {case.name: [row for row in rows if row["case"] == case.name] for case in CASES}
    monkeypatch.setattr(rivals, "sweep", lambda case, *_: by_case[case.name])
    monkeypatch.setattr(rivals, "QUICK", EFFORT)
    folder = tmp_path / "out"
    rivals.run(silent, quick=True, output=folder)
    assert store.read(folder) == store.read(stored)
    assert (folder / "rivals.md").read_text(encoding="utf-8") == section(stored, ".")
    assert {path.name for path in folder.glob("*.svg")} == plots.plots(stored).keys()


def test_every_system_has_a_look_of_its_own() -> None:
    assert plots.LOOKS.keys() == RIVALS.keys()
    for looks in zip(*plots.LOOKS.values(), strict=True):  # colours, then markers
        assert len(set(looks)) == len(RIVALS)


def test_the_table_says_who_did_not_end() -> None:
    rows = rivals.sweep(ANY, (8,), Effort(0.001, 0, 1), silent, ["duckdb-join", "spark-join"])
    shown = rivals.table({"rows": rows})
    assert [row["ms"] for row in shown] == ["not ended", "cannot"]
