"""The pages that are made of the committed measurements, and nothing else."""

import re
from pathlib import Path

import pytest

from benchmarks import scaling
from benchmarks._scaling import capacity, plots, store
from benchmarks._scaling.costs import parts_of
from benchmarks._scaling.laws import growth_of, law
from benchmarks._scaling.model import need
from benchmarks._scaling.section import section
from benchmarks._scaling.speedup import AGAINST
from benchmarks._scaling.sweeps import SWEEPS

ROOT = Path(__file__).parents[3]
MEASURED = ROOT / "benchmarks" / "measured"


def test_the_capacity_page_is_what_was_measured() -> None:
    committed = (ROOT / "docs" / "capacity.md").read_text(encoding="utf-8")
    assert committed == capacity.page(MEASURED), "run `make benchmarks`"


def test_the_section_has_every_point_and_no_empty_cell() -> None:
    text = section(MEASURED, "images")
    found = store.read(MEASURED / store.FILE)
    lines = [line for line in text.splitlines() if line.startswith("|") and "---" not in line]
    points = [row for row in found.rows if row.kind == "sweep"]
    jobs = [r for r in found.rows if r.kind == "job" and not r.variant and "epochs" not in r.name]
    variants = sum(len(sweep.variants) for sweep in SWEEPS)
    heads = len(SWEEPS) + 3
    assert len(lines) == len(points) + len(jobs) + variants + len(AGAINST) + heads
    bodies = [line for line in lines if re.search(r"\d", line)]
    assert all(cell.strip() for line in bodies for cell in line.strip("|").split("|"))


def test_every_plot_is_shown_with_its_growth() -> None:
    drawn = plots.plots(MEASURED)
    assert all(f"(images/{name})" in section(MEASURED, "images") for name in drawn)
    found = store.read(MEASURED / store.FILE)
    for sweep in SWEEPS:
        for variant in sweep.variants:
            text = drawn[plots.name(sweep)].decode()
            assert law(growth_of(found, sweep.name, variant)) in text
    assert "Fitted: in proportion to cores^" in drawn[plots.JOBS].decode()
    assert plots.plots(MEASURED) == drawn


def test_another_measurement_gives_another_page(tmp_path: Path) -> None:
    found = store.read(MEASURED / store.FILE)
    slower = [
        store.Row(
            r.kind, r.name, r.variant, r.at, r.events, r.wall, [2 * s for s in r.cpu], r.value
        )
        for r in found.rows
    ]
    store.write(store.Measured(slower, found.about), tmp_path)
    assert capacity.page(tmp_path) != capacity.page(MEASURED)
    once, twice = parts_of(found), parts_of(store.read(tmp_path / store.FILE))
    assert twice.spark.event == pytest.approx(2 * once.spark.event)
    assert twice.driver.epoch == pytest.approx(2 * once.driver.epoch)


def test_the_answer_is_a_range_and_the_model_stands_beside_its_job() -> None:
    text = capacity.page(MEASURED)
    assert all(f"| {name} |" in text for name in capacity.DEMANDS)
    assert "| its own job | 2 | 2 |" in text
    found = parts_of(store.read(MEASURED / store.FILE))
    cores = {name: need(demand, found).cores for name, demand in capacity.DEMANDS.items()}
    assert cores[capacity.TOP] < cores["few partitions, no bursts"]
    assert cores[capacity.TOP] < cores["a million partitions"]
    assert need(capacity.TARGET, found).beyond == ("partitions",)
    assert "| a snapshot over the state" in text
    assert "| state with 60 open windows over that with one |" in text


def test_the_command_writes_measurements_plots_and_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = store.read(MEASURED / store.FILE)
    rows = {kind: [row for row in found.rows if row.kind == kind] for kind in ("sweep", "job")}
    monkeypatch.setattr(
        scaling.sweeps,
        "measured",
        lambda sweep, *_: [row for row in rows["sweep"] if row.name == sweep.name],
    )
    monkeypatch.setattr(scaling.parts, "measured", lambda *_: [])
    monkeypatch.setattr(scaling, "jobs", lambda *_: rows["job"])
    result = scaling.run(lambda line: None, quick=True, output=tmp_path)
    assert {f"growth_throughput_{each}" for each in AGAINST} <= result.keys()
    assert store.read(tmp_path / store.FILE).rows == rows["sweep"] + rows["job"]
    assert "## Scaling" in (tmp_path / "scaling.md").read_text(encoding="utf-8")
    assert {path.name for path in tmp_path.glob("*.svg")} == plots.plots(MEASURED).keys()


def test_what_was_measured_has_machine_and_versions() -> None:
    about = store.read(MEASURED / store.FILE).about
    assert {"machine", "python", "repeats", *store.PACKAGES} <= about.keys()
    assert int(about["repeats"]) >= 5
