"""The cost model's coefficients, measured on this machine."""

import json
from dataclasses import asdict, fields

import pytest

from runtime.execution.operators.graphlet import calibrate
from runtime.plan.policy import Policy


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """As on a machine that has measured nothing; kernels are those of this machine."""
    monkeypatch.setattr(calibrate, "cache_folder", lambda: tmp_path)
    calibrate.calibrated.cache_clear()
    yield tmp_path
    calibrate.calibrated.cache_clear()


def again() -> Policy:
    """As the next start."""
    calibrate.calibrated.cache_clear()
    return calibrate.calibrated()


def test_every_coefficient_is_measured():
    policy = calibrate.measure_policy()
    for each in fields(Policy):
        if each.name != "version":
            value = getattr(policy, each.name)
            assert calibrate.LEAST <= value < calibrate.MOST, (each.name, value)


def test_what_was_measured_is_kept_for_the_next_start(folder):
    policy = calibrate.calibrated()
    kept = json.loads((folder / "policy.json").read_text())
    assert {name: kept[name] for name in asdict(policy)} == asdict(policy)
    (folder / "policy.json").write_text(json.dumps({**kept, "scan": 7.5}))
    assert again().scan == 7.5


@pytest.mark.parametrize("text", ["", "[]", "{", '{"machine": "another one"}', '{"scan": 1}'])
def test_what_is_no_policy_of_this_machine_is_measured_again(folder, text: str):
    (folder / "policy.json").write_text(text)
    assert calibrate.calibrated().scan != 1
    assert "machine" in json.loads((folder / "policy.json").read_text())


def test_a_folder_that_cannot_be_written(folder, monkeypatch):
    monkeypatch.setattr(calibrate, "cache_folder", lambda: folder / "not there")
    assert calibrate.calibrated().apply > 0
