"""Every sweep and every part on few events, and what is stored of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import _run, scaling
from benchmarks import _streams as streams
from benchmarks._scaling import parts, store, sweeps
from benchmarks._scaling.growth import LEAST_POINTS
from benchmarks._scaling.store import Measured
from runtime.errors import HamletError
from runtime.language.parser import parse


@pytest.mark.parametrize("sweep", sweeps.SWEEPS, ids=lambda sweep: sweep.name)
def test_a_sweep(sweep: sweeps.Sweep) -> None:
    rows = sweeps.measured(sweep, 1, "tiny")
    for variant in sweep.variants:
        found = [row for row in rows if row.variant == variant]
        assert [row.at for row in found] == list(sweep.tiny)
        assert all(len(row.wall) == len(row.cpu) == 1 for row in found)
        assert all(row.ns > 0 and row.events > 0 for row in found)
        assert scaling.growth_of(Measured(rows, {}), sweep.name, variant).words


@pytest.mark.parametrize("sweep", sweeps.SWEEPS, ids=lambda sweep: sweep.name)
def test_a_sweep_has_enough_points_and_its_stream_keeps_its_length(sweep: sweeps.Sweep) -> None:
    for scale in ("full", "quick", "tiny"):
        assert len(getattr(sweep, scale)) >= LEAST_POINTS
    for variant in sweep.variants.values():
        rows = {variant.made(size, variant.tiny).table.num_rows for size in sweep.tiny}
        # Windows of so many events, as many of them as there is room for.
        assert rows <= set(range(int(0.9 * variant.tiny), variant.tiny + 1))


def test_a_thousand_queries_are_all_different() -> None:
    workload = sweeps.SWEEPS[1].variants["shared"].made(1_000, 1_000).workload
    assert len({str(query.pattern) for query in parse(workload)}) == 1_000


def test_the_parts_of_a_job() -> None:
    found = Measured(parts.measured(parts.TINY, 1), {})
    for variant in parts.SHARING:
        for keys in parts.TINY.keys:
            for burst in parts.TINY.bursts:
                rows = found.of("part", "engine", parts.grid(variant, keys, burst))
                assert [row.at for row in rows] == list(parts.TINY.queries)
        assert all(row.cpu_ns > 0 for row in found.of("part", "window", variant))
        held = [row.value or 0 for row in found.of("size", "state bytes", variant)]
        assert 0 < held[0] < held[-1]
    assert found.one("part", "router").events == parts.TINY.events
    few, many = (found.one("part", "driver", name) for name in ("few rows", "many rows"))
    assert few.events < many.events
    # Time, value and key of an event are eight bytes and more each.
    assert found.value("log bytes") > 24
    assert found.value("portion bytes") > 24


def test_visits_come_in_bursts_to_partitions_that_are_open() -> None:
    keys, burst, batch, batches = 7, 5, 1_000, 3
    stream = parts.visits(4, keys, burst, batch, batches)
    first = stream.table.num_rows - batch * batches
    key = stream.table["key"].to_numpy()
    assert first == keys * parts.ENDS
    assert set(key[:first]) == set(range(keys))
    for turn in range(batches):
        visits = key[first + turn * batch :][:batch].reshape(-1, burst)
        assert (visits == visits[:, :1]).all()
    types = stream.table["type"].slice(first).to_pylist()
    assert types.count("B") / len(types) == pytest.approx(burst / (burst + 5), abs=0.05)


def test_an_aggregator_takes_what_routers_send_and_answers_as_an_engine_does() -> None:
    stream = streams.sharing(3, 4_000, "few", windows=4, burst=10, keys=5)
    pieces = parts.Pieces(stream)
    aggregating = pieces.aggregator("dynamic")
    aggregating()
    sent = [sum(p.events.num_rows for p in portions) for _, portions in pieces.portions]
    assert [answer.events for answer in aggregating.answers] == sent[1:]
    assert sum(told.rows for told, _ in pieces.portions) == pieces.rows == 4_000
    found = pieces.bound_workload.tables(
        [each for answer in aggregating.answers for each in answer.partials]
    )
    engine = _run.engine(stream.workload, kernels="general")
    wanted = engine.process(streams.with_strings(stream.table)) | engine.advance(3_999)
    assert found.keys() == wanted.keys()
    for name, table in wanted.items():
        rows = {(r["window_start"], r["key"]): r for r in table.to_pylist()}
        assert {(r["window_start"], r["key"]): r for r in found[name].to_pylist()} == rows
        assert len(rows) == 3 * 5  # of four windows the last is open


def test_what_is_stored_is_read_again(tmp_path: Path) -> None:
    rows = sweeps.measured(replace(sweeps.SWEEPS[4], tiny=(2, 3)), 1, "tiny")
    rows.append(store.sized("log bytes", "", 50, 37.5))
    path = store.write(Measured(rows, store.about(repeats=1)), tmp_path / "out")
    again = store.read(path)
    assert again.rows == rows
    assert again.about["repeats"] == "1"
    assert {"machine", "numba", "ray"} <= again.about.keys()
    assert again.value("log bytes") == 37.5


def test_what_was_not_measured_is_told(tmp_path: Path) -> None:
    with pytest.raises(HamletError, match="sweep `queries` shared was not measured"):
        Measured([], {}).of("sweep", "queries", "shared")
    with pytest.raises(HamletError, match="is not there"):
        store.read(tmp_path / "scaling.parquet")
