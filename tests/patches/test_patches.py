"""What we replace inside Ray, PySpark and RayDP is still there, and still used as we think."""

import inspect
import re
import subprocess
import sys
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pytest
from pyspark import SparkContext, java_gateway
from pyspark import context as spark_context
from ray import _raylet, cross_language
from ray._private import node, parameter, ray_constants, services, state, utils, worker
from ray._private.function_manager import FunctionActorManager
from raydp.spark.ray_cluster import SparkCluster

from actors import ray_patches
from spark_ingest import spark_patches
from spark_ingest.session import SparkSize

ROOT = Path(__file__).parents[2]
INTERNAL = re.compile(r"\bunittest\b|\bray\._|\bfrom ray import _|load_code_from_local")
PACKAGES = ("hamlet", "spark_ingest", "actors", "runtime")
# With another version, read what it does at these places, and then change the number here.
WRITTEN_FOR = {"ray": "2.60.0", "pyspark": "3.5.7", "raydp": "1.6.5"}

REPLACED = [
    (ray_patches.fewer_processes, parameter, "RayParams"),
    (ray_patches.fewer_processes, node.Node, "start_api_server"),
    (ray_patches.loopback_only, ray_constants, "ENABLE_RAY_CLUSTER"),
    (ray_patches.errors_to_log, worker, "print_to_stdstream"),
    (ray_patches.no_sigterm_handler, utils, "set_sigterm_handler"),
    (partial(spark_patches.after_master, print), SparkCluster, "_set_up_master"),
]
# Where each is looked up, and how.
USED = [
    (worker.init, "ray._private.parameter.RayParams("),
    (node.Node.start_head_processes, "self.start_api_server("),
    (services.get_node_ip_address, "ray_constants.ENABLE_RAY_CLUSTER"),
    (worker.listen_error_messages, "print_to_stdstream("),
    (worker.init, "ray._private.utils.set_sigterm_handler("),
    (cross_language._format_args, "if not worker.load_code_from_local:"),
    (FunctionActorManager.export, "if self._worker.load_code_from_local:"),
    (FunctionActorManager.export_actor_class, "if self._worker.load_code_from_local:"),
    (SparkCluster.__init__, "self._set_up_master("),
    (SparkCluster.__init__, "self._prepare_spark_configs()"),
    (SparkContext._ensure_initialized, "launch_gateway("),
    (java_gateway.launch_gateway, "Popen("),
]


@pytest.mark.parametrize("name", WRITTEN_FOR)
def test_versions_are_those_that_were_read(name: str):
    assert version(name) == WRITTEN_FOR[name]


@pytest.mark.parametrize(("patched", "owner", "name"), REPLACED)
def test_a_patch_ends_with_its_block(patched, owner, name: str):
    before = getattr(owner, name)
    with patched():
        assert getattr(owner, name) is not before
    assert getattr(owner, name) is before


def test_the_patch_of_the_gateway_ends_with_its_block(tmp_path):
    before = spark_context.launch_gateway, java_gateway.Popen
    with spark_patches.gateway_output(tmp_path / "log"):
        assert spark_context.launch_gateway is not before[0]
        assert java_gateway.Popen is not before[1]
    assert (spark_context.launch_gateway, java_gateway.Popen) == before


def test_a_jvm_is_known_as_soon_as_it_starts(tmp_path):
    """PySpark itself returns only when it answers."""
    known: list[int] = []
    with spark_patches.gateway_output(tmp_path / "log", lambda process: known.append(process.pid)):
        process = java_gateway.Popen([sys.executable, "-c", ""], stdin=subprocess.DEVNULL)
        assert known == [process.pid]
    process.wait()


def test_the_settings_of_a_driver_are_those_that_raydp_makes(monkeypatch: pytest.MonkeyPatch):
    """What the driver's JVM is started with, before RayDP starts its master."""
    made: list[dict[str, str]] = []

    def keep(self: SparkCluster, *_: object, **__: object) -> None:
        made.append(self._configs)

    monkeypatch.setattr(SparkCluster, "_set_up_master", keep)
    size, given = SparkSize(executors=3, cores=4, memory="5g"), {"spark.driver.host": "127.0.0.1"}
    SparkCluster("hamlet", size.executors, size.cores, size.memory, False, dict(given))
    settings = spark_patches.completed_settings(size, given)
    assert [settings] == made
    assert given == {"spark.driver.host": "127.0.0.1"}
    assert "-javaagent:" in settings["spark.driver.extraJavaOptions"]


@pytest.mark.parametrize(("function", "text"), USED)
def test_what_is_replaced_is_looked_up_when_it_is_called(function, text: str):
    assert text in inspect.getsource(inspect.unwrap(function))


def test_parameters_of_a_node():
    assert set(ray_patches.NODE_PARAMETERS) <= set(
        inspect.signature(parameter.RayParams).parameters
    )
    # Given twice, it would be an error: `ray.init` must not pass them on itself.
    called = inspect.getsource(inspect.unwrap(worker.init))
    assert not [name for name in ray_patches.NODE_PARAMETERS if f"{name}=" in called]
    assert "popen_kwargs" in inspect.signature(java_gateway.launch_gateway).parameters


def test_messages_of_ray_go_to_its_log(caplog: pytest.LogCaptureFixture):
    with ray_patches.errors_to_log():
        worker.print_to_stdstream({"lines": ["one died"], "pid": "raylet"}, ignore_prefix=False)
    assert caplog.messages == ["raylet: one died"]


@pytest.mark.parametrize("before", [False, True])
def test_calls_to_java_are_allowed_for_their_block(monkeypatch: pytest.MonkeyPatch, before: bool):
    process = worker.Worker()
    monkeypatch.setattr(worker, "global_worker", process)
    monkeypatch.setattr(worker.Worker, "connected", True)  # without it, the flag cannot be read
    assert not process.load_code_from_local
    process.set_load_code_from_local(before)
    with suppress(LookupError), ray_patches.calls_to_java():
        assert process.load_code_from_local
        raise LookupError
    assert process.load_code_from_local == before


def test_what_is_read_is_there():
    assert hasattr(worker, "_global_node")
    for name in ("get_logs_dir_path", "all_processes", "dead_processes"):
        assert hasattr(node.Node, name) or f"self.{name}: dict = " in inspect.getsource(node.Node)
    asked = set(inspect.signature(state.actors).parameters)
    assert {"actor_id", "job_id", "actor_state_name"} <= asked
    assert callable(_raylet.Config.initialize)
    assert callable(_raylet.AuthenticationTokenLoader.instance().reset_cache)


def test_internals_are_used_nowhere_else():
    """Nothing is replaced elsewhere, and nothing that is private to Ray is used elsewhere."""
    found = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if INTERNAL.search(path.read_text(encoding="utf-8"))
    }
    assert found == {
        "actors/ray_internals.py",
        "actors/ray_patches.py",
        "spark_ingest/spark_patches.py",
    }
