"""A seed gives a schedule, always the same one."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from chaos import faults as every
from chaos.__main__ import IN_PROCESS, main, play_in_process
from chaos.faults import kinds
from chaos.schedule import FILES, TOPICS, schedule

FAULTS = 60


def test_a_seed_gives_one_schedule():
    assert schedule(7, FAULTS, kinds()) == schedule(7, FAULTS, kinds())
    assert schedule(7, FAULTS, kinds()) != schedule(8, FAULTS, kinds())


def test_as_many_faults_as_asked_for():
    for faults in (1, 5, 60):
        steps = schedule(1, faults, kinds())
        assert [step.number for step in steps] == list(range(1, faults + 1))


def test_the_segments_come_one_after_the_other():
    segments = [step.segment for step in schedule(1, FAULTS, kinds())]
    assert segments == [FILES] * 50 + [TOPICS] * 10


def test_every_kind_comes_up_before_one_comes_up_again():
    for seed in range(5):
        steps = schedule(seed, FAULTS, kinds())
        for segment in (FILES, TOPICS):
            there = Counter(step.fault for step in steps if step.segment == segment)
            assert set(there) == set(kinds()[segment])


def test_a_segment_ends_with_flips():
    """Not with all of them."""
    for seed in range(5):
        steps = schedule(seed, FAULTS, kinds())
        for segment in (FILES, TOPICS):
            names = [step.fault for step in steps if step.segment == segment]
            assert names[-1] == "flip while down"
        assert any(step.fault.startswith("flip") for step in steps[:45])


def test_greater_weights_come_up_more_often():
    given = {FILES: {"often": 3, "seldom": 1}, TOPICS: {"other": 1}}
    there = Counter(step.fault for step in schedule(1, 120, given))
    assert there["often"] > 2 * there["seldom"]


def test_a_segment_without_faults():
    only_files = schedule(1, 12, {FILES: {"one": 1}, TOPICS: {}})
    only_topics = schedule(1, 12, {FILES: {}, TOPICS: {"one": 1}})
    assert {step.segment for step in only_files} == {FILES}
    assert {step.segment for step in only_topics} == {TOPICS}
    assert len(only_files) == len(only_topics) == 12


def test_in_process_too_a_seed_gives_one_history():
    """Of thousands of faults, so that each kind comes up."""
    first, again, other = (play_in_process(seed, 200) for seed in (7, 7, 8))
    assert first == again
    assert first != other
    assert set(first) == set(IN_PROCESS)
    assert all(faults.total() >= 100 for faults in first.values())


def test_a_fault_that_is_not_there_is_refused(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["chaos", "7", "--only", "kill gcs"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "no fault is called `kill gcs`: did you mean `kill " in capsys.readouterr().err


def test_the_example_in_contributing_is_a_fault():
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
    names = re.findall(r"--only '([^']+)'", text)
    assert names
    assert set(names) <= every.FAULTS.keys()
