"""What is said when Ray or Spark does not start, and that nothing of them stays."""

import json
import shutil
from pathlib import Path

import pytest

from tools.patience import PATIENCE_S

RUN = """
import json, os, sys
from unittest.mock import patch
from actors import cluster
from runtime.errors import HamletError
from spark_ingest import session
import ray._private.services as services
import psutil

def tell(error):
    left = psutil.Process().children(recursive=True)
    print(json.dumps([error.message, error.hint, len(left)]))

try:
{body}
except HamletError as error:
    tell(error)
"""
NO_RAYLET = """
    with patch.object(services, "start_raylet", side_effect=OSError("no room")):
        cluster.start()
"""
NO_TIME = """
    with cluster.start(session.environment(embedded=True)) as running:
        session.start(running, limit_s=3)
"""
NO_ROOM = """
    with cluster.start(session.environment(embedded=True), cpus=1) as running:
        session.start(running, session.SparkSize(cores=2), limit_s=40)
"""
NO_MEMORY = """
    with cluster.start(session.environment(embedded=True)) as running:
        session.start(running, settings={"spark.driver.memory": "lots"}, limit_s=300)
"""
NO_RAY_BUT_A_DRIVER = """
    starting = session.SessionStart()
    with patch.object(services, "start_raylet", side_effect=OSError("no room")):
        cluster.start(session.environment(embedded=True), beside=starting.launch_driver)
"""
NO_WAIT_FOR_EXECUTORS = """
    with cluster.start(session.environment(embedded=True), cpus=1) as running:
        starting = session.SessionStart(session.SparkSize(cores=2), limit_s=40)
        starting.begin(running)
        assert starting.wait().range(3).schema.names == ["id"]
        starting.check()
        starting.wait_for_executors()
"""
NO_SUCH_ADDRESS = """
    cluster.connect("127.0.0.1:1")
"""
CLIENT_ADDRESS = """
    cluster.connect("ray://127.0.0.1:10001")
"""


@pytest.fixture
def told(run):
    def ask(body: str) -> tuple[str, str, int]:
        process = run(RUN.format(body=body), RAY_ADDRESS=None)
        out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, err
        assert err == ""
        return json.loads(out)

    return ask


def logs_of(hint: str) -> Path:
    """The folder that the hint names, with something in it. It is removed here."""
    folder = Path(hint.removeprefix("the logs are in "))
    assert any(folder.iterdir())
    shutil.rmtree(folder.parent)
    return folder


def test_ray_fails_in_the_middle(told):
    message, hint, left = told(NO_RAYLET)
    assert message == "Ray did not start: no room"
    assert logs_of(hint)
    assert left == 0


def test_spark_takes_too_long(told):
    message, hint, left = told(NO_TIME)
    assert message == "Spark did not start: not within 3 s"
    assert logs_of(hint)
    assert left == 0


def test_ray_fails_while_the_driver_of_spark_starts(told):
    message, hint, left = told(NO_RAY_BUT_A_DRIVER)
    assert message == "Ray did not start: no room"
    assert logs_of(hint)
    assert left == 0


def test_executors_are_late_after_the_session_is_there(told):
    message, hint, left = told(NO_WAIT_FOR_EXECUTORS)
    assert message == "Spark did not start: not within 40 s"
    assert logs_of(hint)
    assert left == 0


def test_no_cpus_for_the_executors(told):
    message, hint, left = told(NO_ROOM)
    assert message == "Spark did not start: not within 40 s"
    assert logs_of(hint)
    assert left == 0


def test_spark_refuses(told):
    message, hint, left = told(NO_MEMORY)
    assert message.startswith("Spark did not start: ")
    assert logs_of(hint)
    assert left == 0


def test_no_cluster_at_the_address(told):
    message, hint, _ = told(NO_SUCH_ADDRESS)
    assert message == "cannot connect to Ray at 127.0.0.1:1: Connection refused"
    assert "running" in hint


def test_address_of_a_ray_client(told):
    message, hint, _ = told(CLIENT_ADDRESS)
    assert "ray://127.0.0.1:10001 is not an address for a run" in message
    assert "hamlet submit" in hint
