"""Random faults on the real classes, in process: every row once and right."""

import pytest

from protocol.random_faults import play


def test_some_faults() -> None:
    faults = play(first=1, faults=300)
    assert set(faults) == {"contending", "crash", "flip", "cut", "loss"}


@pytest.mark.slow
def test_five_thousand_faults() -> None:
    print(dict(play(first=1_000, faults=5_000)))
