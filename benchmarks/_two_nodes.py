"""Two Ray nodes on one machine, each with a network of its own and one wire between them.

The first has no cores, so that only the driver is there. What the driver's node receives is counted
by Linux. Linux lets any user make such networks, inside a namespace in which the user is root.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from actors.actor_pool import WORKER
from runtime.errors import EnvironmentFailure, HamletError
from spark_ingest import session

DRIVER, OTHER = "10.231.0.1", "10.231.0.2"
PORT = 6379
WIRE, FAR_END = "hamlet0", "hamlet1"
CORES = 8  #: of the other node, for scheduling only
STORE_BYTES = 1 << 30
START_S = 120.0


def isolated(command: Sequence[str]) -> list[str]:
    """The command in a new network, and all of its processes end with it."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        raise HamletError("two nodes need `unshare` and `ip`", "install util-linux and iproute2")
    rights = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    ends = ["--pid", "--fork", "--kill-child", "--mount-proc"]
    return ["unshare", *rights, "--net", *ends, *command]


def received() -> int:
    """Bytes that came through the wire to this network."""
    for line in Path("/proc/self/net/dev").read_text().splitlines():
        name, _, figures = line.partition(":")
        if name.strip() == WIRE:
            return int(figures.split()[0])
    raise RuntimeError(f"there is no {WIRE}")


@contextmanager
def two_nodes(folder: Path) -> Iterator[dict[str, str]]:
    """The environment of a driver on the first node; its address is `DRIVER` with `PORT`. Only
    inside of a command that is `isolated`."""
    token = folder / "token"
    token.write_text(secrets.token_hex(32))
    token.chmod(0o600)
    with _other_network() as enter:
        _connect(enter)
        driver, other = (_environment(token, address) for address in (DRIVER, OTHER))
        own = f'--resources={{"{WORKER}": 1}}'
        with (
            _node(["--head", f"--port={PORT}", "--num-cpus=0"], DRIVER, driver, folder),
            _node(
                [f"--address={DRIVER}:{PORT}", f"--num-cpus={CORES}", own],
                OTHER,
                other,
                folder,
                enter,
            ),
        ):
            yield driver


@contextmanager
def _other_network() -> Iterator[list[str]]:
    """A second network, and the command that starts another one inside of it."""
    own = os.readlink("/proc/self/ns/net")
    holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    try:
        place = f"/proc/{holder.pid}/ns/net"
        until = time.monotonic() + START_S
        while os.readlink(place) == own:
            if holder.poll() is not None or time.monotonic() > until:
                raise EnvironmentFailure("cannot make a second network")
            time.sleep(0.01)
        yield ["nsenter", f"--net={place}"]
    finally:
        holder.kill()
        holder.wait()


def _connect(enter: list[str]) -> None:
    place = enter[-1].partition("=")[2]
    pid = place.split("/")[2]
    for command in (
        ["ip", "link", "add", WIRE, "type", "veth", "peer", "name", FAR_END, "netns", pid],
        *_up(WIRE, DRIVER),
        *([*enter, *each] for each in _up(FAR_END, OTHER)),
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise EnvironmentFailure(f"`{' '.join(command)}` failed: {done.stderr.strip()}")


def _up(device: str, address: str) -> list[list[str]]:
    """By the default route Ray finds the node's own address."""
    return [
        ["ip", "link", "set", "lo", "up"],
        ["ip", "address", "add", f"{address}/24", "dev", device],
        ["ip", "link", "set", device, "up"],
        ["ip", "route", "add", "default", "dev", device],
    ]


def _environment(token: Path, address: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    return {
        **kept,
        **session.environment(embedded=False),
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "SPARK_LOCAL_IP": address,
    }


@contextmanager
def _node(
    role: list[str],
    address: str,
    environment: Mapping[str, str],
    folder: Path,
    enter: Sequence[str] = (),
) -> Iterator[None]:
    command = [
        *(*enter, sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *role),
        *(f"--node-ip-address={address}", f"--object-store-memory={STORE_BYTES}"),
        *("--dashboard-agent-listen-port=0", "--disable-usage-stats"),
    ]
    if "--head" in role:
        command += ["--include-dashboard=false", f"--temp-dir={folder / 'ray'}"]
    log = folder / f"{address}.log"
    with log.open("wb") as file:
        node = subprocess.Popen(
            command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=file, stderr=file
        )
    try:
        _await_start(node, log)
        yield
    finally:
        node.terminate()
        node.wait()


def _await_start(node: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_S
    while "Ray runtime started" not in log.read_text():
        if node.poll() is not None or time.monotonic() > until:
            raise EnvironmentFailure(f"a Ray node did not start:\n{log.read_text()[-2_000:]}")
        time.sleep(0.1)
