"""Random faults on the real classes, in process: every row once and right."""

import pytest

from protocol.disk_faults import CALLS, play_on_disk
from protocol.random_faults import play


def test_some_faults() -> None:
    faults = play(first=1, faults=300)
    assert set(faults) == {"contending", "crash", "flip", "cut", "loss"}


@pytest.mark.slow
def test_five_thousand_faults() -> None:
    print(dict(play(first=1_000, faults=5_000)))


def test_some_faults_of_the_disk() -> None:
    faults = play_on_disk(first=1, faults=300)
    assert {fault.partition(":")[0] for fault in faults} == set(CALLS)


@pytest.mark.slow
def test_five_thousand_faults_of_the_disk() -> None:
    print(dict(play_on_disk(first=1_000, faults=5_000)))
