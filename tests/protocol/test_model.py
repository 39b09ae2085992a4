"""Every order of the steps of two runs, with a crash or a lost file anywhere: each row is published
once, and right."""

import pytest

from protocol.explore import Explorer, Program, Violation
from protocol.programs import (
    always_publishing,
    former,
    former_with_staging_alone,
    one_copy,
    shared,
    two_copies,
    with_a_reviving_lease,
    without_a_second_look,
    without_refresh,
)
from protocol.shared_world import SharedWorld

SHARED = SharedWorld()


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
    assert model.states > 4_000
    assert model.ends > 100


def test_two_runs_with_different_outputs_contend_and_one_crashes() -> None:
    model = explored(one_copy, rows=1, outputs="xy", crashes=1)
    assert model.violation is None, model.violation
    assert model.states > 4_000
    assert model.ends > 500


def test_two_runs_contend_one_crashes_and_a_file_is_lost() -> None:
    """Some of the states, at random."""
    model = explored(two_copies, most=10_000, rows=1, crashes=1, losses=1)
    assert model.violation is None, model.violation
    assert model.states == 10_000
    assert model.ends > 100


def test_a_run_crashes_and_a_file_is_lost() -> None:
    model = explored(two_copies, rows=2, crashes=1, losses=1, contending=False)
    assert model.violation is None, model.violation
    assert model.ends > 150


def test_two_runs_contend_on_a_shared_store() -> None:
    """Some of the states, at random."""
    model = explored(shared, most=10_000, rows=2, world=SHARED)
    assert model.violation is None, model.violation
    assert model.states == 10_000


@pytest.mark.slow
@pytest.mark.parametrize("outputs", ["xx", "xy"])
def test_all_states_of_contention_and_a_crash_in_three_epochs(outputs: str) -> None:
    model = explored(two_copies, rows=3, crashes=1, outputs=outputs)
    assert model.violation is None, model.violation
    assert model.states > 100_000
    assert model.ends > 10_000


@pytest.mark.slow
def test_all_states_of_contention_and_a_loss_in_three_epochs() -> None:
    model = explored(two_copies, rows=3, losses=1)
    assert model.violation is None, model.violation
    assert model.states > 1_000_000
    assert model.ends > 30_000


@pytest.mark.slow
def test_all_states_of_contention_a_crash_and_a_loss() -> None:
    model = explored(two_copies, rows=1, crashes=1, losses=1)
    assert model.violation is None, model.violation
    assert model.states > 400_000


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2])
def test_all_states_of_contention_on_a_shared_store(rows: int) -> None:
    """With listings that are old, and runs that sleep longer than their lease at any step."""
    model = explored(shared, rows=rows, world=SHARED)
    assert model.violation is None, model.violation
    assert model.states > 100_000


@pytest.mark.slow
def test_many_states_of_all_faults_together() -> None:
    model = explored(two_copies, most=100_000, rows=3, crashes=1, losses=1, outputs="xy")
    assert model.violation is None, model.violation
    assert model.states == 100_000
    assert model.ends > 1_000


# ---- the reduction -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{"rows": 1}, {"rows": 2, "crashes": 1, "contending": False}, {"rows": 1, "crashes": 1}],
    ids=["contention", "crash", "both"],
)
def test_the_orders_that_are_left_out_lead_nowhere_else(options: dict[str, int]) -> None:
    some, everything = (explored(one_copy, reduced=each, **options) for each in (True, False))
    assert some.final_worlds == everything.final_worlds
    assert some.states < everything.states


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


def test_a_lease_that_revives_fails_on_a_shared_store() -> None:
    """Its owner slept, and the listing that it gets is old: two runs publish what differs."""
    found = violation(with_a_reviving_lease, rows=2, world=SHARED)
    assert found.what.startswith("readers see [(0, 0), (0, 0)")
    steps = [step[2:] for step in found.path]
    assert any("(late, renewing)" in step for step in steps)
    assert "list a/owners/ (old)" in steps


def test_a_run_that_trusts_an_old_listing_of_records_fails_on_a_shared_store() -> None:
    found = violation(without_refresh, rows=2, world=SHARED)
    assert found.what.startswith("readers see [(0, 0), (0, 0)")
    assert "list a/epochs/ (old)" in [step[2:] for step in found.path]


@pytest.mark.slow
def test_a_run_that_waits_and_does_not_look_again_fails_on_a_shared_store() -> None:
    """Two runs start at once. While one waits for the other one's lease, that one commits."""
    found = violation(without_a_second_look, rows=2, world=SHARED)
    steps = [step[2:] for step in found.path]
    assert "list a/epochs/ (old)" in steps[steps.index("wait None") :]
