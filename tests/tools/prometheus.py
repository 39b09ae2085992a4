"""A Prometheus server for tests, on loopback, and its tool.

Where it is not installed, Debian's package is fetched and unpacked into the cache, which needs no
rights and installs nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import yaml

from runtime.cache_dir import cache_of
from tools.kafka import free_ports
from tools.patience import PATIENCE_S

PACKAGE = "prometheus"
PROGRAMS = ("prometheus", "promtool")
RULES = Path(__file__).parents[2] / "grafana" / "prometheus" / "rules.yml"


class NotToBeHad(Exception):
    """Neither installed nor to be fetched."""


def programs() -> tuple[Path, Path]:
    """The server and its tool."""
    installed = [shutil.which(name) for name in PROGRAMS]
    if all(installed):
        return Path(str(installed[0])), Path(str(installed[1]))
    folder = cache_of("prometheus") / "unpacked"
    if not folder.exists():
        _unpack(folder)
    return folder / "usr/bin/prometheus", folder / "usr/bin/promtool"


def _unpack(folder: Path) -> None:
    """All or nothing, should another process do the same."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        there = Path(temporary)
        try:
            _download(there)
            (package,) = there.glob("*.deb")
            _run(["dpkg", "-x", str(package), "unpacked"], there)
        except (OSError, subprocess.SubprocessError) as error:
            raise NotToBeHad(f"Debian's package {PACKAGE} cannot be fetched: {error}") from error
        try:
            (there / "unpacked").rename(folder)
        except OSError:  # the other one was first
            assert folder.exists()


def _download(folder: Path) -> None:
    """A machine may have no lists of packages yet; then they are fetched to a folder of our own."""
    try:
        _run(["apt-get", "download", "--quiet", PACKAGE], folder)
    except subprocess.CalledProcessError:
        (folder / "lists" / "partial").mkdir(parents=True)
        (folder / "cache").mkdir()
        own = ["-o", f"Dir::State::Lists={folder}/lists", "-o", f"Dir::Cache={folder}/cache"]
        _run(["apt-get", *own, "--quiet", "update"], folder)
        _run(["apt-get", *own, "--quiet", "download", PACKAGE], folder)


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=PATIENCE_S)


class Prometheus:
    """Scrapes and works out rules every second. `watch` names what is scraped, and may be called
    again while it runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        self._targets = folder / "targets.json"
        self.watch()
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [
                {
                    "job_name": "hamlet",
                    "file_sd_configs": [{"files": [str(self._targets)], "refresh_interval": "1s"}],
                }
            ],
        }
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        with open(folder / "prometheus.log", "wb") as log:
            self._process = subprocess.Popen(
                [
                    str(programs()[0]),
                    f"--config.file={folder / 'prometheus.yml'}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    f"--web.listen-address={self.url.removeprefix('http://')}",
                    "--log.level=warn",
                ],
                stdout=log,
                stderr=log,
                env={"PATH": os.environ["PATH"], "HOME": str(folder), "GOMAXPROCS": "1"},
            )
        self._await()

    def watch(self, *urls: str) -> None:
        found = [{"targets": [url.removeprefix("http://") for url in urls]}]
        waiting = self._targets.with_suffix(".new")
        waiting.write_text(json.dumps(found))
        waiting.rename(self._targets)

    def now(self, expr: str, at: float | None = None) -> list[dict[str, Any]]:
        """Series with their value. `at`: at that Unix time."""
        given = {"query": expr, **({} if at is None else {"time": f"{at:.3f}"})}
        return list(self._ask("query", given)["result"])

    def value(self, expr: str) -> float | None:
        """Of the only series, if there is one."""
        found = self.now(expr)
        assert len(found) <= 1, found
        return float(found[0]["value"][1]) if found else None

    def over(self, expr: str, start: float, end: float) -> list[dict[str, Any]]:
        """Series with their values, second by second."""
        given = {"query": expr, "start": f"{start:.3f}", "end": f"{end:.3f}", "step": "1"}
        return list(self._ask("query_range", given)["result"])

    def values_of(self, label: str, match: str) -> list[str]:
        """What a label can be, in the series that match."""
        return list(self._ask(f"label/{label}/values", {"match[]": match}))

    def rules(self) -> list[dict[str, Any]]:
        """With how they fare."""
        groups = self._ask("rules", {})["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, path: str, given: dict[str, str]) -> Any:
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(given)}"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{given}: {error.read().decode()}") from error

    def _await(self) -> None:
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/-/ready", timeout=2):
                    return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > until:
                    self.stop()
                    said = (self._folder / "prometheus.log").read_text()
                    raise RuntimeError(said[-2000:]) from None
                time.sleep(0.1)
