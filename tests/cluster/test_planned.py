"""Jobs under an optimizer: it re-plans when the stream changes, and results stay the same."""

import time
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import ray

from actors.actor_pool import ActorPool
from cluster.jobs import JobInput, engine_of, followed, joined
from cluster.streams import write_parquet
from runtime.language.parser import parse
from runtime.pipeline.settings import Settings

TEXT = "\n".join(
    f"QUERY q{n} RETURN COUNT(*) AS n, SUM(T.x) AS x PATTERN SEQ(A{n}, (SEQ(P, T))+, C{n}) "
    "WHERE [key] WITHIN 20 ms"
    for n in range(20)
)
ENDS = [f"{end}{n}" for end in "AC" for n in range(20)]


def batch(number: int, rows: int = 4_000) -> pa.Table:
    """First rounds of P and T, with few other events; from the fourth on, hardly any of them."""
    draw = np.random.default_rng(number)
    ends = np.array(ENDS)[draw.integers(0, len(ENDS), rows)]
    rounds = np.array(["P", "T"])[np.arange(rows) % 2]
    often = 0.98 if number < 4 else 0.02
    types = np.where(draw.random(rows) < often, rounds, ends)
    return pa.table(
        {
            "time": np.arange(number * rows, (number + 1) * rows) * 10,
            "type": types,
            "key": draw.integers(0, 2, rows),
            "x": draw.integers(0, 10, rows),
        }
    )


def assert_close(found: pa.Table, wanted: pa.Table) -> None:
    """To the last bit while numbers are below 2^53, within 1e-9 beyond."""
    assert found.column_names == wanted.column_names
    for one, other in zip(found.itercolumns(), wanted.itercolumns(), strict=True):
        mine, theirs = one.to_numpy(), other.to_numpy()
        small = np.abs(theirs) < 2**53
        assert (mine[small] == theirs[small]).all()
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)


def slowly(number: int, table: pa.Table, path: Path) -> None:
    """The last ones take their time, so that what was planned meanwhile comes with one of them."""
    time.sleep(0.0 if number < 8 else 0.4)
    write_parquet(table, path)


@pytest.mark.parametrize("actors", [1, 2])
def test_plans_follow_the_stream(spark, actor_pool, tmp_path: Path, actors: int):
    batches = [batch(number) for number in range(16)]
    settings = Settings(planner="gloria")
    asked = JobInput(parse(TEXT), tmp_path / "events", settings, unit="us")
    files = [(f"{n:03d}.parquet", partial(slowly, n, each)) for n, each in enumerate(batches)]
    actors = actor_pool(actors)
    found = followed(spark, actors, asked, files, tmp_path / "checkpoint", 0)
    engine = engine_of(asked, lateness=0)
    tables: dict[str, list[pa.Table]] = {name: [t] for name, t in found.tables.items()}
    wanted: dict[str, list[pa.Table]] = {}
    for each in batches:
        for name, table in engine.process(each).items():
            wanted.setdefault(name, []).append(table)
    assert len(wanted) == 20
    for name, parts in wanted.items():
        assert_close(joined(tables[name]), joined(parts))
    outcomes = ray.get(actors.optimizer.replanned.remote())
    assert outcomes, "the optimizer has planned nothing"
    assert outcomes[0].migrated
    assert found.plan > 0, "no aggregator has taken up another plan"


def test_nobody_waits_for_an_optimizer_that_is_away(spark, actor_pool, tmp_path: Path):
    actors = ActorPool(1, 1)
    ray.kill(actors.optimizer)
    asked = JobInput(parse(TEXT), tmp_path / "events", Settings(planner="gloria"), unit="us")
    batches = [batch(number) for number in range(4)]
    files = [(f"{n:03d}.parquet", partial(write_parquet, each)) for n, each in enumerate(batches)]
    found = followed(spark, actors, asked, files, tmp_path / "checkpoint", 0)
    actors.close()
    asked = JobInput(parse(TEXT), tmp_path / "again", Settings(), unit="us")
    again = followed(spark, actor_pool(2), asked, files, tmp_path / "other", 0)
    assert any(table.num_rows for table in found.tables.values())
    for name, table in again.tables.items():
        assert_close(found.tables[name], table)
