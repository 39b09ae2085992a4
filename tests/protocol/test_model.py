"""Every order of the steps of two runs, with a crash or a lost file anywhere: each row is published
once, and right."""

import pytest

from protocol.explore import Explorer, Program, Violation
from protocol.programs import (
    always_publishing,
    former,
    former_with_staging_alone,
    one_copy,
    two_copies,
)


def explored(program: Program, most: int | None = None, **options: object) -> Explorer:
    model = Explorer(program, **options)  # type: ignore[arg-type]
    model.explore(most)
    print(f"{model.states:,} states, {model.transitions:,} steps, {model.ends:,} ends")
    return model


def violation(program: Program, **options: object) -> Violation:
    """The one that the model finds; `pytest -s` shows it."""
    model = explored(program, **options)
    assert model.violation is not None
    print(model.violation)
    return model.violation


# ---- as it is ------------------------------------------------------------------------------


def test_two_runs_contend() -> None:
    model = explored(one_copy, rows=2)
    assert model.violation is None, model.violation
    assert model.states > 30_000
    assert model.ends > 1_000


def test_two_runs_with_different_outputs_contend_and_one_crashes() -> None:
    model = explored(one_copy, rows=1, outputs="xy", crashes=1)
    assert model.violation is None, model.violation
    assert model.states > 20_000
    assert model.ends > 3_000


def test_two_runs_contend_one_crashes_and_a_file_is_lost() -> None:
    """Some of the states, at random."""
    model = explored(two_copies, most=20_000, rows=1, crashes=1, losses=1)
    assert model.violation is None, model.violation
    assert model.states == 20_000
    assert model.ends > 100


def test_a_run_crashes_and_a_file_is_lost() -> None:
    model = explored(two_copies, rows=2, crashes=1, losses=1, contending=False)
    assert model.violation is None, model.violation
    assert model.ends > 500


@pytest.mark.slow
@pytest.mark.parametrize("outputs", ["xx", "xy"])
def test_two_runs_contend_and_one_crashes(outputs: str) -> None:
    model = explored(one_copy, rows=2, crashes=1, outputs=outputs)
    assert model.violation is None, model.violation
    assert model.states > 60_000


@pytest.mark.slow
def test_three_rows() -> None:
    model = explored(one_copy)
    assert model.violation is None, model.violation
    assert model.states > 100_000


@pytest.mark.slow
def test_many_states_of_all_faults_together() -> None:
    model = explored(two_copies, most=100_000, rows=2, crashes=1, losses=1, outputs="xy")
    assert model.violation is None, model.violation
    assert model.states == 100_000
    assert model.ends > 1_000


# ---- as it was -----------------------------------------------------------------------------


def test_the_order_of_an_old_version_fails_if_a_run_is_paused() -> None:
    found = violation(former)
    assert "in the end, readers see" in found.what or "readers see" in found.what


def test_the_order_of_an_old_version_fails_if_a_file_is_lost() -> None:
    """The manifest, after its input was deleted: a published part goes, and cannot come back."""
    found = violation(former, losses=1, contending=False)
    assert "in the end, readers see [(0, 0), (1, 1)] instead of" in found.what
    assert any(step.endswith("is lost") for step in found.path)


def test_results_that_are_staged_by_a_run_that_lost_its_ownership_replace_a_part() -> None:
    """Even if no part is ever removed and only the owner writes a manifest."""
    found = violation(former_with_staging_alone)
    assert "in the end, readers see" in found.what
    written = [step for step in found.path if " write results/" in step]
    owner = [step for step in found.path if " write owner.json" in step][-1]
    assert written[-1][0] != owner[0]
    assert found.path.index(written[-1]) > found.path.index(owner)


def test_publishing_again_at_every_start_fails_with_another_output() -> None:
    found = violation(always_publishing, rows=1, outputs="xy")
    assert found.what == "readers see [(0, 0), (0, 0)]"
    outputs = [step.split("('")[1][0] for step in found.path if " publish " in step]
    assert sorted(outputs) == ["x", "y"]
