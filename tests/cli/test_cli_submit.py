"""`hamlet submit` against a Ray that is made up; tests/cluster has a real one."""

import os
import signal
from types import SimpleNamespace

import pytest
from ray.job_submission import JobStatus

from hamlet.cli import submit
from hamlet.cli.job_log import MARK

URL = "http://127.0.0.1:1"


class Ray:
    """Answers at the third try, and can run a job at the fourth."""

    def __init__(self) -> None:
        self.refusals: list[Exception] = []
        self.jobs: dict[str, SimpleNamespace] = {}
        self.submitted: list[dict] = []
        self.stopped: list[str] = []
        self.code = 0
        self.endless = False

    def __call__(self, address: str) -> "Ray":
        self._refuse(ConnectionError)
        return self

    def submit_job(self, **given) -> str:
        self._refuse(RuntimeError)
        self.submitted.append(given)
        self._add("new", JobStatus.RUNNING if self.endless else JobStatus.SUCCEEDED, {})
        return "new"

    def list_jobs(self) -> list[SimpleNamespace]:
        return list(self.jobs.values())

    def stop_job(self, job: str) -> None:
        self.stopped.append(job)
        self.jobs[job].status = JobStatus.STOPPED

    def get_job_status(self, job: str) -> JobStatus:
        return self.jobs[job].status

    def get_job_info(self, job: str) -> SimpleNamespace:
        return self.jobs[job]

    def get_job_logs(self, job: str) -> str:
        return f"done\n{self.submitted[0]['runtime_env']['env_vars'][MARK]} {self.code}\n"

    async def tail_job_logs(self, job: str):
        if self.endless:
            os.kill(os.getpid(), signal.SIGTERM)
        yield ""

    def _add(self, job: str, status: JobStatus, metadata: dict) -> None:
        self.jobs[job] = SimpleNamespace(
            submission_id=job, status=status, metadata=metadata, message=""
        )

    def _refuse(self, kind: type[Exception]) -> None:
        if self.refusals and isinstance(self.refusals[0], kind):
            raise self.refusals.pop(0)


@pytest.fixture
def ray(monkeypatch) -> Ray:
    found = Ray()
    monkeypatch.setattr("ray.job_submission.JobSubmissionClient", found)
    monkeypatch.setattr(submit, "_POLL_S", 0.01)
    return found


def test_what_is_submitted(hamlet, ray):
    done = hamlet(
        "submit", "--address", URL, "--no-upload", "--stop-within", "2m", "--", "check", "a b"
    )
    assert (done.exit_code, done.stdout) == (0, "done\n")
    (given,) = ray.submitted
    assert given["entrypoint"] == "python -m hamlet.cli.submit_entrypoint check 'a b'"
    assert "working_dir" not in given["runtime_env"]
    assert given["runtime_env"]["env_vars"]["RAY_JOB_STOP_WAIT_TIME_S"] == "120"
    assert given["metadata"] == {}


def test_the_exit_code_is_that_of_the_job(hamlet, ray):
    ray.code = 1
    assert hamlet("submit", "--address", URL, "--", "check", "x").exit_code == 1


def test_a_cluster_that_is_starting(hamlet, ray):
    agent = RuntimeError("Request failed: No available agent to submit job")
    ray.refusals = [ConnectionError(), ConnectionError(), agent]
    done = hamlet("submit", "--address", URL, "--wait", "1m", "--", "check", "x")
    assert done.exit_code == 0
    assert done.stderr.count("waiting for the cluster") == 1
    assert len(ray.submitted) == 1


@pytest.mark.parametrize(
    ("refusal", "said", "code"),
    [(ConnectionError(), "cannot reach", 2), (RuntimeError("no space"), "refused: no space", 1)],
)
def test_nobody_waits_unasked(hamlet, ray, refusal, said, code):
    ray.refusals = [refusal]
    done = hamlet("submit", "--address", URL, "--", "check", "x")
    assert done.exit_code == code
    assert said in done.stderr
    assert ray.submitted == []


def test_a_job_of_the_same_name_is_stopped_first(hamlet, ray):
    ray._add("old", JobStatus.RUNNING, {"hamlet_name": "rides"})
    ray._add("ended", JobStatus.FAILED, {"hamlet_name": "rides"})
    ray._add("other", JobStatus.RUNNING, {"hamlet_name": "stocks"})
    done = hamlet("submit", "--address", URL, "--name", "rides", "--", "check", "x")
    assert done.exit_code == 0
    assert ray.stopped == ["old"]
    assert ray.submitted[0]["metadata"] == {"hamlet_name": "rides"}


def test_sigterm_stops_the_job_and_gives_its_code(hamlet, ray):
    ray.endless = True
    done = hamlet("submit", "--address", URL, "--", "run", "x")
    assert ray.stopped == ["new"]
    assert (done.exit_code, done.stdout) == (0, "done\n")
    assert "stopping job new" in done.stderr
