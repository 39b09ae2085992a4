"""What the chart runs, run here: the right results, queries that change, a gentle end."""

import json
import shlex
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from cluster.deploy.release import RAY, ROOT, Release, until
from tools.kubernetes import helm, of_kind, render
from tools.patience import PATIENCE_S
from tools.registries import NotToBeHad

VALUES = Path(__file__).with_name("values.yaml")
QUERY = "RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WITHIN 1 minute\n"
MORE = """
QUERY ride
RETURN driver, COUNT(*) AS n, SUM(T.speed) AS total
PATTERN SEQ(Request R, Travel T+, Dropoff D)
WHERE [driver]
GROUP-BY driver
WITHIN 1 minute

QUERY travels
RETURN COUNT(*) AS n
PATTERN Travel T
WITHIN 1 minute
"""

BROKEN = MORE.replace("PATTERN", "PATERN")


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    try:
        helm()
    except NotToBeHad as error:
        pytest.skip(f"tool: {error}")
    found = Release(tmp_path_factory.mktemp("release"), VALUES)
    found.at("/data/events").mkdir(parents=True)
    try:
        found.start()
        yield found
    finally:
        found.stop()


class Rides:
    """A minute of events each: two drivers, of whom the first travels once, the second twice."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.minutes = 0

    def put(self) -> int:
        """The minute that is closed by what comes now."""
        at = 60 * self.minutes
        speeds = {"ann": [10], "bob": [20, 30]}
        rows = []
        for driver, values in speeds.items():
            rows.append({"time": at + 1, "type": "Request", "driver": driver})
            for i, speed in enumerate(values):
                rows.append(
                    {"time": at + 2 + i, "type": "Travel", "driver": driver, "speed": speed}
                )
            rows.append({"time": at + 9, "type": "Dropoff", "driver": driver})
        text = "".join(json.dumps({"speed": None, **row}) + "\n" for row in rows)
        hidden = self._folder / f".{self.minutes:04}.jsonl"
        hidden.write_text(text)
        hidden.rename(self._folder / f"{self.minutes:04}.jsonl")
        self.minutes += 1
        return self.minutes - 2


#: Trends of bob: 20, 30, and 20 with 30.
WANTED = [{"driver": "ann", "n": 1, "total": 10}, {"driver": "bob", "n": 3, "total": 100}]


def rows(release: Release, query: str) -> list[dict]:
    found = []
    for part in sorted(release.at("/var/lib/hamlet/results").glob(f"{query}.jsonl/part-*")):
        found += [json.loads(line) for line in part.read_text().splitlines()]
    return found


def rides_of(release: Release, minute: int) -> list[dict]:
    found = [row for row in rows(release, "ride") if row["window_start"] == 60 * minute]
    return [{name: row[name] for name in WANTED[0]} for row in found]


def give(release: Release, queries: str) -> None:
    """Other queries arrive in the mounted file."""
    release.upgrade(
        VALUES, "--set-string", f"workload.queries={queries.replace(',', chr(92) + ',')}"
    )


@pytest.mark.slow
def test_a_release(release):
    """One life of it, since a job takes a while to start."""
    rides = Rides(release.at("/data/events"))
    rides.put()
    give(release, BROKEN)
    with release.submitter() as pod:
        # An error at the start is told, and waited out.
        until(lambda: pod.running() or "to be corrected" in pod.said, "the error is told")
        assert "workload.sase:4:1: error: " in pod.said
        assert "\n    | ^^^^^^\n" in pod.said
        release.upgrade(VALUES)
        began = time.monotonic()
        last = rides.put()
        until(lambda: pod.running() or rides_of(release, last), f"the first results\n{pod.said}")
        assert rides_of(release, last) == WANTED
        print(f"first results after {time.monotonic() - began:.1f} s")

        # The queries change, and the job goes on.
        job = [line for line in pod.said.splitlines() if line.startswith("job raysubmit_")]
        give(release, MORE)
        until(lambda: pod.running() or "added travels" in pod.said, "the query is added", 30)
        rides.put(), rides.put()
        last = rides.put()
        until(lambda: pod.running() or rides_of(release, last), "later results")
        assert rides_of(release, last) == WANTED
        assert [row["n"] for row in rows(release, "travels")][-1] == 3
        assert [line for line in pod.said.splitlines() if line.startswith("job raysubmit_")] == job

        # `helm test`, while the job runs.
        with release.tested() as test:
            assert test.wait() == 0, test.said
            assert "the workload gave the right result" in test.said

        with urllib.request.urlopen(release.metrics, timeout=PATIENCE_S) as answer:
            assert f'hamlet_queries{{hamlet_job="{release.name}"}} 2.0' in answer.read().decode()

        # The end of the pod is the end of the job, after its epochs.
        rides.put()
        told = time.monotonic()
        pod.terminate()
        assert pod.wait() == 0, pod.said
        grace = release.job["terminationGracePeriodSeconds"]
        print(f"ended after {time.monotonic() - told:.1f} s of {grace} s")
        assert "Traceback" not in pod.said

    # The next pod goes on from the checkpoint, and with its queries where the file has an error:
    # every window once, and nothing is lost.
    give(release, BROKEN)
    with release.submitter() as pod:
        rides.put()
        last = rides.put()
        until(lambda: pod.running() or rides_of(release, last), "results after the restart")
        for minute in range(last + 1):
            assert rides_of(release, minute) == WANTED, minute
        assert "using the queries of the checkpoint until it is corrected" in pod.said
        assert [row["n"] for row in rows(release, "travels")][-1] == 3
        give(release, MORE)
        pod.kill()  # so that nobody stops the job

    # The one after that finds the job still running, and takes its place.
    with release.submitter() as pod:
        until(lambda: pod.running() or "which is called" in pod.said, "the former job is found")
        last = rides.put()
        until(lambda: pod.running() or rides_of(release, last), "results of the third")
        for minute in range(last + 1):
            assert rides_of(release, minute) == WANTED, minute

        # The head is told to end: the job finishes its epochs first.
        told = time.monotonic()
        with release.leaving() as leaving:
            assert leaving.wait() == 0, leaving.said
        print(f"the head may end after {time.monotonic() - told:.1f} s")
        assert "stopping job" in leaving.said
        assert pod.wait() == 0, pod.said
        print(f"its pod ended after {time.monotonic() - told:.1f} s")
        assert "Traceback" not in pod.said


@pytest.mark.slow
def test_a_batch(release):
    """The entry point of a RayJob, which the operator hands to Ray as it is."""
    folder = release.at("/data/batch")
    folder.mkdir()
    rides = Rides(folder)
    rides.put(), rides.put()
    options = {
        "mode": "batch",
        "input.uri": "/data/batch",
        "output.uri": "/var/lib/hamlet/batch",
        "checkpoint.uri": "/var/lib/hamlet/batch-state",
        "metrics.port": release.metrics_port,
    }
    given = [each for name, value in options.items() for each in ("--set", f"{name}={value}")]
    spec = of_kind(render(VALUES, *given, release="1e3"), "RayJob")["spec"]
    entrypoint = shlex.join(release.here(word) for word in shlex.split(spec["entrypoint"]))
    submit = (
        "import sys; from ray.job_submission import JobSubmissionClient as C; "
        "print(C(sys.argv[1]).submit_job(entrypoint=sys.argv[2]))"
    )
    job = in_pod(release, sys.executable, "-c", submit, release.dashboard, entrypoint)
    follow = (*RAY, "job", "logs", "--address", release.dashboard, "--follow", job.strip())
    said = in_pod(release, *follow)
    status = in_pod(release, *RAY, "job", "status", "--address", release.dashboard, job.strip())
    assert "succeeded" in status, said
    lines = (release.at("/var/lib/hamlet/batch") / "ride.jsonl").read_text().splitlines()
    found = [{name: json.loads(line)[name] for name in WANTED[0]} for line in lines]
    assert found == [*WANTED, *WANTED]


def in_pod(release: Release, *command: str) -> str:
    """What a command prints that has the cluster's token."""
    done = subprocess.run(
        command,
        env=release.environment(release.job["containers"][0]),
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_by_hand(release, tmp_path):
    """`ray job submit`, with the file for its environment."""
    (tmp_path / "ride.sase").write_text(QUERY)
    (tmp_path / "ride.csv").write_text("time,type\n1,A\n2,B\n3,B\n")
    entry = "python -m hamlet.cli.submit_entrypoint"
    run = f"{entry} run ride.sase --input ride.csv --engine local --format csv"
    said = in_pod(
        release,
        *(*RAY, "job", "submit", "--address", release.dashboard),
        *("--runtime-env", str(ROOT / "deploy" / "ray" / "runtime-env.yaml")),
        *("--working-dir", str(tmp_path), "--", *run.split()),
    )
    assert ",3" in said


def test_only_pods_of_ray_get_the_token_unasked(release):
    """So that a pod of the chart that does not ask for it would be refused here, too."""
    for container in (release.job["containers"][0], release.test["containers"][0]):
        assert "RAY_AUTH_TOKEN" in release.environment(container)
        assert not {"RAY_AUTH_MODE", "RAY_AUTH_TOKEN"} & set(
            release.environment({**container, "env": []})
        )
    assert "RAY_AUTH_TOKEN" in release.environment({"name": "ray-worker"})


def test_a_wrong_token_is_refused(release):
    (container,) = release.job["containers"]
    command = [
        "hamlet",
        "submit",
        "--address",
        release.dashboard,
        "--no-upload",
        "--",
        "check",
        "x",
    ]
    done = subprocess.run(
        ["/usr/bin/env", *command],
        env=release.environment(container) | {"RAY_AUTH_TOKEN": "0" * 64},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 1
    assert "needs a token" in done.stderr
