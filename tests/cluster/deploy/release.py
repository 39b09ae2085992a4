"""A release of the chart without Kubernetes: its rendered commands, environment, files and mounts,
run on a local Ray with a token.

A mount is a folder of the test, and every path in a command or a variable leads there. Services
are ports of the loopback device. All else is as it was rendered.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from runtime.cache_dir import cache_of
from spark_ingest import session
from tools.folders import remove
from tools.kafka import free_ports
from tools.kubernetes import Manifest, of_kind, render
from tools.patience import PATIENCE_S

ROOT = Path(__file__).parents[3]
TOKEN = "1" * 64
RAY = (sys.executable, "-m", "ray.scripts.scripts")
RELEASE = "y"  # which YAML takes for a truth


class Release:
    """`start` brings up the cluster; `submitter` is the job's pod, `tested` the one of the test."""

    def __init__(self, folder: Path, values: Path, *options: str) -> None:
        self.folder = folder
        gcs, dashboard, metrics = free_ports(3)
        self._ports = {"gcs": gcs, "dashboard": dashboard}
        self.dashboard = f"http://127.0.0.1:{dashboard}"
        self.metrics_port = metrics
        self.metrics = f"http://127.0.0.1:{metrics}/metrics"
        self.manifests = render(
            values, *options, "--set", f"metrics.port={metrics}", release=RELEASE
        )
        self.cluster: Manifest = of_kind(self.manifests, "RayCluster")["spec"]
        self.head = self.cluster["headGroupSpec"]["template"]["spec"]
        self.deployment = of_kind(self.manifests, "Deployment")
        self.job = self.deployment["spec"]["template"]["spec"]
        self.test = of_kind(self.manifests, "Pod")["spec"]
        self.name = str(self.deployment["metadata"]["name"]).removesuffix("-job")
        self._node: subprocess.Popen[bytes] | None = None
        # Sockets want a short path.
        self._ray = Path("/tmp") / f"hamlet-release-{os.getpid()}-{gcs}"
        self._mounts = {
            mount["mountPath"]: self._mounted(mount["name"], volume)
            for pod in (self.test, self.head)
            for volume in pod["volumes"]
            for mount in pod["containers"][0]["volumeMounts"]
            if mount["name"] == volume["name"]
        }

    # ---- files -----------------------------------------------------------------------------

    def at(self, path: str) -> Path:
        """Where a path of a pod is here."""
        return Path(self.here(path))

    def _mounted(self, name: str, volume: Manifest) -> Path:
        path = self.folder / "mounts" / name
        path.mkdir(parents=True, exist_ok=True)
        if "configMap" in volume:
            self._put(path, self._config(volume["configMap"]["name"]))
        return path

    def _config(self, name: str) -> dict[str, str]:
        (found,) = [
            each
            for each in self.manifests
            if each["kind"] == "ConfigMap" and each["metadata"]["name"] == name
        ]
        return dict(found["data"])

    def _put(self, path: Path, data: dict[str, str]) -> None:
        """As Kubernetes does: files are links into a folder, and that is swapped."""
        new = path / f"..{time.monotonic_ns()}"
        new.mkdir()
        for name, text in data.items():
            (new / name).write_text(text)
            if not (path / name).is_symlink():
                (path / name).symlink_to(Path("..data") / name)
        link = path / "..data_tmp"
        link.symlink_to(new.name)
        link.rename(path / "..data")

    def upgrade(self, values: Path, *options: str) -> None:
        """`helm upgrade` with other queries, as far as it reaches the mounted file."""
        manifests = render(values, *options, release=RELEASE)
        (found,) = [
            each for each in manifests if each["metadata"]["name"] == f"{self.name}-workload"
        ]
        self._put(self.at("/etc/hamlet/workload"), found["data"])

    def here(self, text: str) -> str:
        """A word of a command or a variable of a pod."""
        for there, here in sorted(self._mounts.items(), reverse=True):
            if text == there or text.startswith(f"{there}/"):
                return f"{here}{text.removeprefix(there)}"
        text = text.replace(f"{self.name}-head-svc", "127.0.0.1")
        text = text.replace("127.0.0.1:8265", f"127.0.0.1:{self._ports['dashboard']}")
        return text.replace("0.0.0.0", "127.0.0.1")

    # ---- processes -------------------------------------------------------------------------

    def start(self) -> None:
        """Head and workers are one node: on the loopback device Ray knows no other."""
        rendered = self.cluster["headGroupSpec"]["rayStartParams"]
        (group,) = self.cluster["workerGroupSpecs"]
        (worker,) = group["template"]["spec"]["containers"]
        options = {
            **{name: self.here(value) for name, value in rendered.items()},
            # The operator writes a command for a shell.
            **{name: shlex.split(value)[0] for name, value in group["rayStartParams"].items()},
            # It gives each worker as many as its limit says.
            "num-cpus": group["replicas"] * int(worker["resources"]["limits"]["cpu"]),
            "node-ip-address": "127.0.0.1",
            "port": self._ports["gcs"],
            "dashboard-port": self._ports["dashboard"],
            "dashboard-agent-listen-port": 0,
            "object-store-memory": 200_000_000,
            "temp-dir": self._ray,
        }
        self._initialize()
        given = [f"--{key}={value}" for key, value in options.items()]
        with open(self.folder / "ray.log", "wb") as log:
            self._node = subprocess.Popen(
                [*RAY, "start", "--head", "--block", "--disable-usage-stats", *given],
                env=self.environment(self.head["containers"][0]),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._await()

    def _initialize(self) -> None:
        """What the image would bring are the kernels of this machine."""
        image = self.folder / "image"
        image.mkdir()
        for each in ("kernels", "numba"):
            (image / each).symlink_to(cache_of(each))
        (container,) = self.head["initContainers"]
        (mount,) = container["volumeMounts"]
        there = {"/var/cache/hamlet": image, mount["mountPath"]: self.at("/var/cache/hamlet")}
        command, *words = container["command"]
        for path, here in there.items():
            words = [re.sub(f"^{path}/", f"{here}/", each) for each in words]
        subprocess.run([command, *words], check=True)

    def environment(self, container: Manifest) -> dict[str, str]:
        """What the container would have, and what the image brings: Hamlet, Python and Java."""
        kept = {n: v for n, v in os.environ.items() if not n.startswith(("RAY_", "HAMLET_"))}
        java = session.environment(embedded=True)
        path = os.pathsep.join([str(self._bin()), str(Path(sys.executable).parent), java["PATH"]])
        image = {
            **java,
            "PATH": path,
            "PYTHONPATH": str(ROOT),
            # So that 127.0.0.1 stays what it is, and that it ends at once.
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
            "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0",
            "RAY_raylet_start_wait_time_s": "120",  # the machine may be busy
        }
        # The operator adds the token to head and workers; other pods have to ask for it.
        of_ray = container["name"] in ("ray-head", "ray-worker")
        token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN} if of_ray else {}
        given = {
            each["name"]: self._secret(each) if "valueFrom" in each else self.here(each["value"])
            for each in container.get("env", [])
        }
        return {**kept, **image, **token, **given}

    def _secret(self, variable: Manifest) -> str:
        """There is but one, which the operator makes and calls as the cluster."""
        wanted = variable["valueFrom"]["secretKeyRef"]
        assert wanted == {"name": self.name, "key": "auth_token"}
        return TOKEN

    def _bin(self) -> Path:
        """`hamlet` of this checkout."""
        folder = self.folder / "bin"
        if not folder.exists():
            folder.mkdir()
            script = folder / "hamlet"
            script.write_text(f"#!{sys.executable}\nfrom hamlet.cli import main\n\nmain()\n")
            script.chmod(0o755)
        return folder

    @contextmanager
    def submitter(self) -> Iterator[Pod]:
        (container,) = self.job["containers"]
        with self._pod("job", container) as pod:
            yield pod

    @contextmanager
    def tested(self) -> Iterator[Pod]:
        (container,) = self.test["containers"]
        with self._pod("test", container) as pod:
            yield pod

    @contextmanager
    def leaving(self) -> Iterator[Pod]:
        """What the head does when it is told to end, before Ray is."""
        (container,) = self.head["containers"]
        with self._pod(
            "leaving", {**container, **container["lifecycle"]["preStop"]["exec"]}
        ) as pod:
            yield pod

    @contextmanager
    def _pod(self, name: str, container: Manifest) -> Iterator[Pod]:
        command = [self.here(each) for each in [*container["command"], *container.get("args", [])]]
        log = self.folder / f"{name}.log"
        with open(log, "ab") as file:
            process = subprocess.Popen(
                ["/usr/bin/env", *command],
                cwd=self.folder,
                env=self.environment(container),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        try:
            yield Pod(process, log)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()

    def stop(self) -> None:
        if self._node is not None:
            self._node.terminate()
            try:
                self._node.wait(60)
            except subprocess.TimeoutExpired:
                self._node.kill()
                self._node.wait()
        remove(self._ray)

    def _await(self) -> None:
        def answers() -> bool:
            url = f"{self.dashboard}/api/gcs_healthz"
            assert self._node is not None
            assert self._node.poll() is None, (self.folder / "ray.log").read_text()
            try:
                urllib.request.urlopen(url, timeout=5).close()
            except urllib.error.HTTPError:
                return True
            except OSError:
                return False
            return True

        until(answers, "Ray answers")


class Pod:
    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process = process
        self._log = log

    @property
    def said(self) -> str:
        return self._log.read_text()

    def running(self) -> None:
        assert self._process.poll() is None, self.said

    def wait(self, seconds: float = PATIENCE_S) -> int:
        return self._process.wait(seconds)

    def terminate(self) -> None:
        """As Kubernetes ends a pod."""
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self._process.kill()


def until(found: Callable[[], object], what: str, seconds: float = PATIENCE_S) -> None:
    give_up = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < give_up, f"not within {seconds:g} s: {what}"
        time.sleep(0.2)
