"""What a job says while it starts: a line for each stage, unless there is a terminal."""

import json
import re

import pytest

from hamlet import logs
from hamlet.cli.job_screen import job_screen
from hamlet.cli.stderr import LoggedNotices, Notices

STAGES = ["starting Ray", "starting Spark", "reading rides.csv"]


def start(notices: Notices) -> None:
    with job_screen(notices) as screen:
        for stage in STAGES:
            screen.stage(stage)
        screen.stage("")
        assert screen.running


def test_a_line_for_each_stage(capfd: pytest.CaptureFixture[str]):
    start(Notices())
    out, err = capfd.readouterr()
    lines = [re.fullmatch(r" *(\d+\.\d) s  (.*)", line).groups() for line in err.splitlines()]
    assert (out, [stage for _, stage in lines]) == ("", STAGES)
    seconds = [float(after) for after, _ in lines]
    assert seconds == sorted(seconds)


def test_no_stages_if_quiet(capfd: pytest.CaptureFixture[str]):
    start(Notices(quiet=True))
    assert capfd.readouterr() == ("", "")


def test_stages_in_the_log(capfd: pytest.CaptureFixture[str]):
    logs.configure("json")
    start(LoggedNotices())
    found = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [(each["event"], each["level"], each["text"]) for each in found] == [
        ("stage", "info", stage) for stage in STAGES
    ]
    assert all(each["seconds"] >= 0 for each in found)


def test_on_a_terminal_the_stage_is_shown_in_its_place(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Notices, "live", True)
    start(Notices())
    assert not re.search(r"\d\.\d s  starting", capfd.readouterr().err)
