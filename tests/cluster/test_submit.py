"""Jobs on a cluster that others have started, with its dashboard and a token."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from spark_ingest import session
from tools.folders import remove
from tools.patience import PATIENCE_S

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
QUERY = """QUERY ride
RETURN COUNT(*) AS n, SUM(T.speed) AS total
PATTERN SEQ(Request R, Travel T+, Dropoff D)
WITHIN 10 minutes
"""
EVENTS = "time,type,speed\n1,Request,\n2,Travel,10\n3,Travel,20\n4,Dropoff,\n"


@pytest.fixture(scope="module")
def token(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("token") / "token"
    path.write_text("1" * 64)
    path.chmod(0o600)
    return path


@pytest.fixture(scope="module")
def env(token) -> dict[str, str]:
    """For both sides: the token, this checkout, and the Python that runs the tests."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    kept = {n: v for n, v in os.environ.items() if not n.startswith("RAY_")}
    # Ray finds Java as it starts, and gives it to what runs on it.
    java = session.environment(embedded=True)
    path = os.pathsep.join([str(Path(java["JAVA_HOME"]) / "bin"), path])
    return kept | {
        **java,
        "PATH": path,
        "PYTHONPATH": str(ROOT),
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # so that 127.0.0.1 stays what it is
    }


@pytest.fixture(scope="module")
def ports() -> list[int]:
    return free_ports(2)


@pytest.fixture(scope="module")
def gcs(ports) -> str:
    return f"127.0.0.1:{ports[0]}"


@pytest.fixture(scope="module")
def address(env, ports, tmp_path_factory):
    folder = Path("/tmp") / f"hamlet-test-{os.getpid()}"  # sockets want a short path
    command = [
        *(sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"),
        *("--node-ip-address=127.0.0.1", "--dashboard-host=127.0.0.1", f"--port={ports[0]}"),
        *(f"--dashboard-port={ports[1]}", "--dashboard-agent-listen-port=0", "--num-cpus=16"),
        *(f"--temp-dir={folder}", "--object-store-memory=200000000", "--disable-usage-stats"),
    ]
    log = tmp_path_factory.mktemp("ray") / "log"
    with log.open("wb") as file:
        head = subprocess.Popen(
            command, env=env, stdout=file, stderr=file, stdin=subprocess.DEVNULL
        )
    url = f"http://127.0.0.1:{ports[1]}"
    try:
        await_answer(url, head, log)
        yield url
    finally:
        head.terminate()
        head.wait(PATIENCE_S)
        remove(folder)


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "ride.sase").write_text(QUERY)
    (tmp_path / "broken.sase").write_text("QUERY ride\nRETURN\n")
    (tmp_path / "ride.csv").write_text(EVENTS)
    (tmp_path / "secret.csv").write_text(EVENTS)
    (tmp_path / ".rayignore").write_text("secret.csv\n")
    return tmp_path


@pytest.fixture
def submit(env, address, folder):
    started = []

    def start(*arguments: str, **more: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", "from hamlet.cli import main; main()", "submit"]
        process = subprocess.Popen(
            [*command, "--address", address, "--", *arguments],
            cwd=folder,
            env=env | more,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_heed_interrupts,  # noqa: PLW1509
        )
        started.append(process)
        return process

    yield start
    for one in started:
        one.kill()
        one.wait()


def run(process):
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err


def test_results_and_success(submit):
    arguments = "run", "ride.sase", "--input", "ride.csv", "--engine", "local"
    code, out, err = run(submit(*arguments, "--format", "csv", "--quiet"))
    assert code == 0, err
    assert "3,60" in out
    assert "hamlet-" not in out  # the line with the exit code
    assert "raysubmit_" in err
    assert "Traceback" not in err


def test_a_run_on_ray_and_spark_works_on_the_cluster(submit):
    arguments = "run", "ride.sase", "--input", "ride.csv"
    process = submit(*arguments, "--format", "csv", "--quiet")
    out, err = process.communicate(timeout=5 * PATIENCE_S)
    assert process.returncode == 0, out + err
    assert "3,60" in out
    assert "Traceback" not in err


def test_a_run_on_an_existing_cluster(env, address, gcs, folder):
    command = [sys.executable, "-c", "from hamlet.cli import main; main()", "run", "ride.sase"]
    options = ["--input", "ride.csv", "--address", gcs, "--output", "results", "--format", "json"]
    done = subprocess.run(
        [*command, *options],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    row = json.loads((folder / "results" / "ride.jsonl").read_text())
    assert (row["n"], row["total"]) == (3, 60)


def test_error_of_the_user(submit):
    code, out, err = run(submit("check", "broken.sase"))
    assert code == 1, err
    assert "broken.sase:" in out
    assert "Traceback" not in out + err


def test_what_rayignore_names_is_not_uploaded(submit):
    code, out, err = run(submit("run", "ride.sase", "--input", "secret.csv", "--engine", "local"))
    assert code == 1, err
    assert "secret.csv" in out


def test_interrupt_stops_the_job(submit):
    endless = "generate:ridesharing?events=100000000"
    process = submit("run", "ride.sase", "--input", endless, "--engine", "local", "--log", "text")
    said = process.stderr.readline()
    assert "raysubmit_" in said
    assert any("epoch" in line for line in process.stdout), "it has not started"
    process.send_signal(signal.SIGINT)
    code, _, err = run(process)
    assert code == 130
    assert "stopping job" in err
    assert err.rstrip().endswith("interrupted")


def test_wrong_token(submit):
    code, out, err = run(submit("check", "ride.sase", RAY_AUTH_TOKEN="0" * 64))
    assert (code, out) == (1, ""), err
    assert "token" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1:1", "cannot reach a Ray cluster at http://127.0.0.1:1"),
        ("127.0.0.1:6379", "127.0.0.1:6379 is not the address of a dashboard"),
    ],
)
def test_wrong_address(url, said):
    from typer.testing import CliRunner

    from hamlet.cli import app

    result = CliRunner().invoke(app, ["submit", "--address", url, "--", "check", "ride.sase"])
    assert result.exit_code == 1
    assert said in result.output


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def await_answer(url, head, log):
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        assert head.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(f"{url}/api/gcs_healthz", timeout=5):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(log.read_text())


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
