"""The Ray cluster a run works on: one of its own, started for it and gone with it, or a given one.

An embedded cluster serves one run of one user on one machine:

- Nothing listens beyond 127.0.0.1: Ray's processes bind to the loopback device alone if that is
  the address of their node.
- Whoever connects has to know a token. It is new for each cluster and kept in a file for this
  user alone, which the environment names to every process below, those of Java included.
- It has its own folder and lets the system choose its ports, so that clusters of other runs do
  not meet it. RAY_ADDRESS is ignored: a cluster is joined only by `connect`.
- Ray's processes go down with this one, even if it is killed. Ray asks Linux for that on behalf
  of the *thread* that starts them: start a cluster in a thread that lives as long as it is used.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any

import ray

from actors import processes
from actors.authentication import authenticated
from actors.cluster_dir import ClusterDir
from actors.env_vars import changed
from actors.log_redirect import logged_to
from actors.ray_patches import ENVIRONMENT, errors_to_log, fewer_processes, loopback_only
from actors.sigterm import terminated_by
from runtime.errors import HamletError

LOOPBACK = "127.0.0.1"
_LOOPBACK_NAMES = (LOOPBACK, "localhost", "::1")
# Logical CPUs of an embedded cluster. Ray counts them for scheduling only, and here everything
# that asks for some must run at once: the machine's cores are shared out by the system.
CPUS = 256
# The same of memory: an executor that Ray finds no room for would be waited for in silence.
_MEMORY_BYTES = 1 << 40
# Of the object store: as Ray has it, a part of the machine's memory, but less on a large one.
_STORE_PART, _STORE_MOST = 0.3, 2 << 30
# What does not end by itself by then is killed: its state is in checkpoints.
_PATIENCE_S = 5
_KNOCK_S = 10
# Loggers that write to the terminal if nobody tells them otherwise.
_TALKATIVE = ("ray", "raydp", "py4j")


class Cluster:
    """The connection of this process to Ray. `close` it, or use it in a `with`.

    A process has one at a time, as Ray does. `address` is what another process connects to,
    `namespace` is where the actors of this run have their names, `folder` is a private one for
    files that should vanish with the cluster, and `logs` is the place to look at when something
    fails: it stays behind if an error leaves the `with`.
    """

    def __init__(self, embedded: bool) -> None:
        self.embedded = embedded
        self.address = ""
        self.namespace = f"hamlet-{secrets.token_hex(4)}"
        self._dir = ClusterDir()
        self.folder = self._dir.path
        self.logs = self._dir.logs
        self._stack = ExitStack()

    @property
    def nodes(self) -> int:
        return sum(node["Alive"] for node in ray.nodes())

    def before_close(self, callback: Callable[[], object]) -> None:
        """Has `callback` called while Ray is still there. The last one comes first."""
        self._stack.callback(callback)

    def close(self, keep_logs: bool = False) -> None:
        """Stops what was started. A second time it does nothing."""
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

    def _embed(self, environment: Mapping[str, str], cpus: int, store_bytes: int) -> None:
        self._stack.enter_context(changed({**environment, **ENVIRONMENT}))
        self._stack.enter_context(authenticated(self._dir.write_token()))
        with fewer_processes(), loopback_only():
            self._init(
                "local",
                num_cpus=cpus,
                object_store_memory=store_bytes,
                include_dashboard=False,
                _memory=_MEMORY_BYTES,
                _node_ip_address=LOOPBACK,
                _temp_dir=str(self._dir.ray),
            )

    def _join(self, address: str) -> None:
        _knock(address)
        # Ray would look for the cluster at the machine's own address instead, where one that
        # listens on the loopback device alone cannot be found.
        with loopback_only() if _host(address) in _LOOPBACK_NAMES else nullcontext():
            self._init(address)

    def _init(self, address: str, **options: Any) -> None:
        if ray.is_initialized():
            raise HamletError("this process is connected to a Ray cluster already")
        self._stack.enter_context(logged_to(self.logs / "python.log", *_TALKATIVE))
        self._stack.enter_context(errors_to_log())
        self._stack.callback(self._leave)
        with terminated_by(self._stack):
            context: Any = ray.init(
                address,
                namespace=self.namespace,
                configure_logging=False,
                log_to_driver=False,
                **options,
            )
        self.address = context.address_info["gcs_address"]

    def _leave(self) -> None:
        # Listed first: the children of a process that has ended are nobody's.
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
) -> Cluster:
    """Starts a Ray of our own on this machine.

    `environment` is for Ray and all that it starts: for one with Spark that of
    `spark_ingest.session`, since the raylet must find `java` from its first moment.
    """
    cluster = Cluster(embedded=True)
    with _closing_on_failure(cluster, "Ray did not start"):
        cluster._embed(environment or {}, cpus, store_bytes or _store_bytes())
    return cluster


def connect(
    address: str, environment: Mapping[str, str] | None = None, *, token: Path | None = None
) -> Cluster:
    """Joins the cluster at `address` (HOST:PORT, or "auto" for the one of this machine).

    Ray wants a driver to run on a node of the cluster. `environment` is for this process, and
    for Spark's driver below it. Without `token`, a file, the token is the user's, from where Ray
    looks for it: RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or a file.
    """
    if "://" in address:
        raise HamletError(
            f"{address} is no address for a run: it works on a node of the cluster",
            "give HOST:PORT there, or send the run to the cluster with `hamlet submit`",
        )
    cluster = Cluster(embedded=False)
    with _closing_on_failure(cluster, f"cannot connect to Ray at {address}"):
        cluster._stack.enter_context(changed(environment or {}))
        if token is not None:
            cluster._stack.enter_context(authenticated(token))
        cluster._join(address)
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
        raise HamletError(f"{what}: {said}", f"the logs are in {cluster.logs}") from error


def _knock(address: str) -> None:
    """Finds out at once whether anybody is there. Ray would try for minutes, and tell of it."""
    host, _, port = address.rpartition(":")
    if not port.isdigit():  # "auto", or a mistake that Ray knows
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_S).close()
    except OSError as error:
        raise HamletError(
            f"cannot connect to Ray at {address}: {error.strerror or error}",
            "is the cluster running, and is this machine one of its nodes?",
        ) from error


def _host(address: str) -> str:
    return address.rpartition(":")[0].strip("[]")


def _store_bytes() -> int:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(int(memory * _STORE_PART), _STORE_MOST)
