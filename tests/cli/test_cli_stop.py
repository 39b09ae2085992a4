"""`hamlet stop` against a Ray that is made up; tests/cluster/deploy has a real one."""

from types import SimpleNamespace

import pytest
from ray.job_submission import JobStatus

URL = "http://127.0.0.1:1"


class Ray:
    def __init__(self, *jobs: tuple[str, str, JobStatus]) -> None:
        self.jobs = {
            job: SimpleNamespace(submission_id=job, status=status, metadata={"hamlet_name": name})
            for job, name, status in jobs
        }
        self.stopped: list[str] = []
        self.deaf = False

    def __call__(self, address: str) -> "Ray":
        return self

    def list_jobs(self) -> list[SimpleNamespace]:
        return list(self.jobs.values())

    def stop_job(self, job: str) -> None:
        self.stopped.append(job)
        if not self.deaf:
            self.jobs[job].status = JobStatus.STOPPED

    def get_job_status(self, job: str) -> JobStatus:
        return self.jobs[job].status


@pytest.fixture
def ray(monkeypatch) -> Ray:
    found = Ray(
        ("ended", "rides", JobStatus.FAILED),
        ("running", "rides", JobStatus.RUNNING),
        ("other", "stocks", JobStatus.RUNNING),
    )
    monkeypatch.setattr("ray.job_submission.JobSubmissionClient", found)
    return found


def test_the_job_of_this_name(hamlet, ray):
    done = hamlet("stop", "rides", "--address", URL)
    assert done.exit_code == 0
    assert ray.stopped == ["running"]
    assert "stopping job running, which is called rides" in done.stderr


def test_none_is_no_error(hamlet, ray):
    done = hamlet("stop", "taxis", "--address", URL)
    assert done.exit_code == 0
    assert ray.stopped == []
    assert "no job called taxis is running" in done.stderr


def test_one_that_does_not_end(hamlet, ray):
    ray.deaf = True
    done = hamlet("stop", "rides", "--address", URL, "--within", "10ms")
    assert done.exit_code == 2
    assert "job running has not ended within 10ms" in done.stderr


def test_an_address_of_something_else(hamlet, ray):
    done = hamlet("stop", "rides", "--address", "head:6379")
    assert done.exit_code == 1
    assert "http://HOST:8265" in done.stderr
