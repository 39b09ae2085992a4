"""Starts the embedded Ray cluster of a run, or connects to an existing one.

An embedded cluster serves one run of one user on one machine:

- Nothing listens beyond 127.0.0.1: Ray's processes bind to the loopback device only if that is the
  address of their node.
- Connecting needs a token. It is new for each cluster, in a file that only this user can read; an
  environment variable names the file to all child processes, including those of Java.
- It has its own folder and lets the system choose its ports, so that clusters of other runs do not
  interfere. RAY_ADDRESS is ignored: only `connect` joins a cluster.
- Ray's processes end with this one, even if it is killed. Linux binds them to the *thread* that
  starts them: start a cluster in a thread that lives as long as the cluster.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any

import ray

from actors import processes
from actors.authentication import authenticated
from actors.cluster_dir import ClusterDir
from actors.env_vars import temporary_variables
from actors.health import died, way_on
from actors.log_redirect import logged_to, stderr_to
from actors.ray_internals import own_node
from actors.ray_patches import ENVIRONMENT, errors_to_log, fewer_processes, loopback_only
from actors.sigterm import terminated_by
from runtime.errors import EnvironmentFailure, HamletError, os_failure

LOOPBACK = "127.0.0.1"
_LOOPBACK_NAMES = (LOOPBACK, "localhost", "::1")
# Logical CPUs of an embedded cluster. Ray counts them for scheduling only, and here everything
# that requests some must run at once: the system schedules the machine's cores.
CPUS = 256
# The same for memory: Ray would silently wait for an executor that does not fit.
_MEMORY_BYTES = 1 << 40
# The object store has a part of the machine's memory, as in Ray, but less on a large machine.
_STORE_PART, _STORE_MOST = 0.3, 2 << 30
# Processes that still run after this are killed: their state is in checkpoints.
_PATIENCE_S = 5
_KNOCK_S = 10
# Loggers that write to the terminal by default. Py4J also uses the root logger.
_TALKATIVE = ("ray", "raydp", "py4j", "root")
#: Those of libraries, for a process whose own logging is not ours.
LIBRARIES = ("ray", "raydp", "py4j")
# Ray gives its processes 30 seconds to start, which can be too short on a busy machine.
_START_ATTEMPTS = 3


class Cluster:
    """The connection of this process to Ray. `close` it, or use it in a `with`.

    A process is connected to one at a time, as in Ray. Other processes connect to `address`,
    `namespace` has the names of this run's actors, `folder` is private for files that are deleted
    with the cluster, and `logs` is the folder to inspect after a failure: it stays if an error
    leaves the `with`.
    """

    def __init__(self, embedded: bool, talkative: Sequence[str] = _TALKATIVE) -> None:
        self.embedded = embedded
        self._talkative = talkative
        self.address = ""
        self.namespace = f"hamlet-{secrets.token_hex(4)}"
        self._dir = ClusterDir()
        self.folder = self._dir.path
        self.logs = self._dir.logs
        self._stack = ExitStack()

    @property
    def nodes(self) -> int:
        return sum(node["Alive"] for node in ray.nodes())

    def check(self) -> None:
        """Raises an error if a process of an embedded cluster has died that nothing restarts. Ends
        the others first: Ray would wait for the dead one, and then end this process."""
        dead = processes.dead_servers() if self.embedded else {}
        for name, pid in dead.items():
            processes.end(processes.of_folder(self.folder), patience_s=0)
            raise EnvironmentFailure(died(name, pid), way_on(self.logs))

    def before_close(self, callback: Callable[[], object]) -> None:
        """Calls `callback` while Ray is still running, in reverse order of registration."""
        self._stack.callback(callback)

    def close(self, keep_logs: bool = False) -> None:
        """Stops the processes that it started. A second call does nothing."""
        try:
            self._stack.close()
        finally:
            self._dir.remove(keep_logs)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(keep_logs=kind is not None and issubclass(kind, Exception))

    def _embed(
        self,
        environment: Mapping[str, str],
        cpus: int,
        store_bytes: int,
        beside: Callable[[Cluster], object],
    ) -> None:
        self._stack.enter_context(temporary_variables({**environment, **ENVIRONMENT}))
        self._stack.enter_context(authenticated(self._dir.write_token()))
        with fewer_processes(), loopback_only():
            self._init(
                "local",
                beside,
                num_cpus=cpus,
                object_store_memory=store_bytes,
                include_dashboard=False,
                _memory=_MEMORY_BYTES,
                _node_ip_address=LOOPBACK,
                _temp_dir=str(self._dir.ray),
            )

    def _join(self, address: str) -> None:
        _check_reachable(address)
        # Ray would look for the cluster at the machine's own address instead, where one that
        # listens on the loopback device alone cannot be found.
        with loopback_only() if _host(address) in _LOOPBACK_NAMES else nullcontext():
            self._init(address)

    def _init(
        self,
        address: str,
        beside: Callable[[Cluster], object] = lambda cluster: None,
        **options: Any,
    ) -> None:
        if ray.is_initialized():
            raise HamletError("this process is already connected to a Ray cluster")
        self._stack.enter_context(stderr_to(self.logs / "native.log"))
        redirect = self._stack.enter_context(logged_to(self.logs / "python.log", *self._talkative))
        self._stack.enter_context(errors_to_log())
        self._stack.callback(self._leave)
        with terminated_by(self._stack):
            beside(self)
            context: Any = ray.init(
                address,
                namespace=self.namespace,
                configure_logging=False,
                log_to_driver=False,
                **options,
            )
        redirect()  # `ray.init` removes the handlers of its logger
        self.address = context.address_info["gcs_address"]

    def _attach(self) -> None:
        """Uses the connection that this process has: somebody else has opened it, and closes it."""
        context = ray.get_runtime_context()
        self.address, self.namespace = context.gcs_address, context.namespace
        self.logs = Path(own_node().get_logs_dir_path())

    def _leave(self) -> None:
        # Listed first: the children of an ended process cannot be found.
        started = processes.of_folder(self.folder) if self.embedded else []
        try:
            ray.shutdown()
        finally:
            processes.end(started, _PATIENCE_S)


def start(
    environment: Mapping[str, str] | None = None,
    *,
    cpus: int = CPUS,
    store_bytes: int | None = None,
    say: Callable[[str], None] = lambda what: None,
    talkative: Sequence[str] = _TALKATIVE,
    beside: Callable[[Cluster], object] = lambda cluster: None,
) -> Cluster:
    """Starts an embedded Ray cluster on this machine. If it does not start, tries again, and calls
    `say` with the reason. Until it is closed, loggers that are `talkative` write to its logs.

    Each time it calls `beside` just before, with the cluster that is about to start: it should
    begin what can start at the same time, and not wait for it.

    `environment` is for Ray and its child processes. With Spark it must be that of
    `spark_ingest.session`, since the raylet looks for `java` when it starts.
    """
    for attempt in range(1, _START_ATTEMPTS + 1):
        try:
            cluster = Cluster(embedded=True, talkative=talkative)
            with _closing_on_failure(cluster, "Ray did not start"):
                cluster._embed(environment or {}, cpus, store_bytes or _store_bytes(), beside)
            return cluster
        except EnvironmentFailure as error:
            if attempt == _START_ATTEMPTS:
                raise
            say(f"{error.message}; trying again")
    raise AssertionError


def connect(
    address: str, environment: Mapping[str, str] | None = None, *, token: Path | None = None
) -> Cluster:
    """Joins the cluster at `address` (HOST:PORT, or "auto" for the one of this machine).

    Ray requires the driver to run on a node of the cluster. `environment` is for this process and
    for Spark's driver. `token` is a file; without it Ray uses the user's token:
    RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or a file.
    """
    if "://" in address:
        raise HamletError(
            f"{address} is not an address for a run: a run needs a node of the cluster",
            "give HOST:PORT there, or send the run to the cluster with `hamlet submit`",
        )
    cluster = Cluster(embedded=False)
    with _closing_on_failure(cluster, f"cannot connect to Ray at {address}"):
        cluster._stack.enter_context(temporary_variables(environment or {}))
        if token is not None:
            cluster._stack.enter_context(authenticated(token))
        cluster._join(address)
    return cluster


def attach(environment: Mapping[str, str] | None = None) -> Cluster:
    """The cluster to which the user has connected this process. Closing it disconnects nobody.
    `environment` is for this process and for Spark's driver."""
    cluster = Cluster(embedded=False)
    with _closing_on_failure(cluster, "cannot use the Ray of this process"):
        cluster._stack.enter_context(temporary_variables(environment or {}))
        cluster._attach()
    return cluster


@contextmanager
def _closing_on_failure(cluster: Cluster, what: str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        ours = isinstance(error, HamletError) or not isinstance(error, Exception)
        cluster.close(keep_logs=not ours)
        if ours:
            raise
        said = " ".join(str(error).split()) or type(error).__name__
        raise EnvironmentFailure(f"{what}: {said}", f"the logs are in {cluster.logs}") from error


def _check_reachable(address: str) -> None:
    """Checks at once whether the cluster answers. Ray would retry for minutes, and print that."""
    host, _, port = address.rpartition(":")
    if not port.isdigit():  # "auto", or an error that Ray reports
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_S).close()
    except OSError as error:
        raise os_failure(
            f"cannot connect to Ray at {address}",
            error,
            "is the cluster running, and is this machine one of its nodes?",
        ) from error


def _host(address: str) -> str:
    return address.rpartition(":")[0].strip("[]")


def _store_bytes() -> int:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(int(memory * _STORE_PART), _STORE_MOST)
