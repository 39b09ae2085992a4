"""The last line of a job that failed, and that libraries write nothing between ours."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from ray.exceptions import WorkerCrashedError

from hamlet.cli.job_failure import failures_explained
from hamlet.cli.stderr import Notices
from hamlet.job import recovery
from hamlet.job.recovery import RetriesExhausted
from runtime.errors import EnvironmentFailure, HamletError, InputError

FIVE: Any = SimpleNamespace(epoch=5)
DIED = EnvironmentFailure("Ray's raylet (process 4711) has died")


@dataclass
class Progress:
    running: bool = True
    last: Any = None


def last_line(
    error: BaseException,
    progress: Progress,
    checkpoint: str | None = "state",
    output: str | None = None,
) -> str | None:
    with (
        pytest.raises(type(error)) as raised,
        failures_explained(progress, checkpoint, output, Notices()),
    ):
        raise error
    notes = getattr(raised.value, "__notes__", [])
    return notes[0] if notes else None


def test_a_job_that_committed():
    assert last_line(EnvironmentFailure("the disk\nis full"), Progress(last=FIVE)) == (
        "failed: the disk; kept: the checkpoint of epoch 5 in state; the same command resumes from "
        "it"
    )


def test_a_job_that_committed_nothing():
    assert last_line(EnvironmentFailure("x" * 500), Progress(running=False)) == (
        f"failed: {'x' * 157}...; kept: state as it was, since no epoch was committed; the same "
        "command resumes from it, or from the beginning if it is empty"
    )


def test_a_job_without_a_checkpoint():
    assert last_line(KeyError("a bug"), Progress(last=FIVE), None, "results") == (
        "failed: 'a bug'; kept: the results in results, but no state, for lack of a --checkpoint; "
        "the same command starts from the beginning, with another --output"
    )


def test_an_error_is_corrected_first():
    wrong = InputError("a file is gone")
    assert last_line(wrong, Progress(last=FIVE)) == (
        "failed: a file is gone; kept: the checkpoint of epoch 5 in state; then the same command "
        "resumes from it"
    )
    assert last_line(HamletError("no such column"), Progress(running=False)) is None


def test_an_interrupt(capsys):
    kept = "kept: the checkpoint of epoch 5 in state; the same command resumes from it"
    assert last_line(KeyboardInterrupt(), Progress(last=FIVE)) == kept
    assert last_line(KeyboardInterrupt(), Progress(running=False)) is None
    assert last_line(SystemExit(143), Progress(last=FIVE)) is None
    assert capsys.readouterr().err == f"terminated; {kept}\n"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Py4JNetworkError("no answer\n  at java.lang.Thread"), "Spark failed: no answer"),
        (Py4JError("An error occurred\n\tat java.x"), "Spark failed: An error occurred"),
        (WorkerCrashedError(), "Ray failed: The worker died unexpectedly"),
    ],
)
def test_stacks_of_java_are_cut(error: Exception, message: str):
    with (
        pytest.raises(EnvironmentFailure) as raised,
        failures_explained(Progress(), None, None, Notices()),
    ):
        raise error
    assert raised.value.message.startswith(message)
    assert "\n" not in raised.value.message


def test_errors_of_java_say_what_java_says():
    java: Any = SimpleNamespace(
        getMessage=lambda: "Job aborted\nat org.apache.spark", _target_id="o1", _gateway_client=None
    )
    found = recovery.explain_error(Py4JJavaError("An error occurred while calling o1.x.", java))
    assert isinstance(found, EnvironmentFailure)
    assert found.message == "Spark failed: Job aborted"


# ---- repeats -------------------------------------------------------------------------------


class Context:
    """The parts of a job that a repeat touches."""

    def __init__(self, dies_after: int) -> None:
        self.troubles: list[str] = []
        self.watcher = SimpleNamespace(trouble=self.troubles.append)
        self.recorder = SimpleNamespace(restarted=lambda part: None, show=lambda: None)
        self._left = dies_after

    def check_processes(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise DIED


@pytest.fixture
def repeats(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)

    def make(context: Context) -> recovery.Recovery:
        workload: Any = SimpleNamespace(bound_workload=None)
        return recovery.Recovery(context, workload)  # type: ignore[arg-type]

    return make


@pytest.mark.parametrize("dies_after", [0, 1])
def test_what_cannot_come_back_is_not_repeated(repeats, dies_after: int):
    """The process may be gone a moment after the work failed."""
    context = Context(dies_after)
    with pytest.raises(EnvironmentFailure) as raised:
        repeats(context).retry_or_raise(ConnectionRefusedError(111, "refused"), True, "spark")
    assert raised.value is DIED
    assert context.troubles == []


def test_what_can_come_back_is_repeated(repeats):
    context = Context(dies_after=1_000)
    recovering = repeats(context)
    refused = ConnectionRefusedError(111, "refused")
    for _ in range(10):
        recovering.retry_or_raise(refused, True, "spark")
    with pytest.raises(RetriesExhausted, match="gave up after 10 repeats: "):
        recovering.retry_or_raise(refused, True, "spark")
    assert len(context.troubles) == 10
    assert issubclass(RetriesExhausted, EnvironmentFailure)


# ---- the terminal --------------------------------------------------------------------------

NATIVE = """
import logging, os, subprocess, sys
from pathlib import Path
from actors.log_redirect import logged_to, stderr_to
from hamlet import logs

logs.configure("text")
print("before", file=sys.stderr)
with stderr_to(Path("native.log")), logged_to(Path("python.log"), "ray", "root") as redirect:
    os.write(2, b"core_worker.cc:609: raw\\n")
    subprocess.run(["sh", "-c", "echo of a child >&2"])
    logging.getLogger("ray").handlers.clear()
    redirect()
    logging.getLogger("ray").warning("of ray")
    logging.exception("of py4j")
    print("ours", file=sys.stderr)
    logs.log("notice", text="logged")
os.write(2, b"after\\n")
"""


def test_native_code_does_not_write_to_the_terminal(root: Path, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", NATIVE],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    before, ours, logged, after = done.stderr.splitlines()
    assert (before, ours, after) == ("before", "ours", "after")
    assert logged.endswith("info notice text=logged")
    assert (tmp_path / "native.log").read_text() == "core_worker.cc:609: raw\nof a child\n"
    kept = (tmp_path / "python.log").read_text()
    assert "of ray" in kept
    assert "of py4j" in kept
