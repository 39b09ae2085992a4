"""Random workloads on the cluster against the enumerator, which lists every trend."""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import pytest

from cluster.jobs import JobInput, on_cluster
from cluster.streams import write_parquet
from engine.judge import EXACT, SHARING, expected, judge, parsed, table_of
from engine.test_against_enumerator import refused
from oracle.choices import Size
from oracle.random_cases import EVENT_BYTES, HEAD_BYTES, Case, make_case
from oracle.random_queries import QUERY_BYTES
from runtime.pipeline.settings import Settings
from runtime.plan.planner import NAMES

SIZE = Size(queries=8, events=16)
CASES = 30


def cases() -> Iterator[Case]:
    """Always the same ones, without queries that the language refuses."""
    length = HEAD_BYTES + QUERY_BYTES * SIZE.queries + EVENT_BYTES * SIZE.events
    for seed in count():
        case = make_case(random.Random(seed).randbytes(length), SIZE)
        kept = tuple(query for query in case.queries if not refused((query,)))
        if len(kept) > 1 and len(case.events) > 5:
            yield replace(case, queries=kept)


@pytest.mark.parametrize("number", range(CASES))
def test_equals_the_enumerator(spark, actor_pool, tmp_path: Path, number: int):
    case = next(islice(cases(), number, None))
    write_parquet(table_of(case), tmp_path / "events.parquet")
    wanted = expected(case)
    for engine in (EXACT, SHARING[number % len(SHARING)]):
        settings = Settings(
            engine["numeric"],
            case.ties,
            engine.get("sharing", "dynamic"),
            planner=NAMES[number % len(NAMES)] if engine["numeric"] == "float" else None,
        )
        asked = JobInput(parsed(case.text), tmp_path / "events.parquet", settings, unit="us")
        found = on_cluster(spark, actor_pool((1, 2, 4)[number % 3]), asked, tmp_path / "checkpoint")
        judge(case, found.tables, wanted, engine)


def test_the_cases_have_trends():
    found = [rows for case in islice(cases(), CASES) for rows in expected(case).values()]
    assert sum(map(bool, found)) > len(found) / 3
