"""Programs and schemas for tests, fetched by name and version and kept in the cache.

Nothing is installed: wheels and modules are unpacked to a folder of their own.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

from runtime.cache_dir import cache_of
from tools.patience import PATIENCE_S

GO_PROXY = "https://proxy.golang.org"


class NotToBeHad(Exception):
    """The registry cannot be reached, or has something else."""


def wheel(name: str, version: str) -> Path:
    """What is in a wheel of PyPI."""

    def fetch(folder: Path) -> Path:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        options = ["--only-binary=:all:", "--dest", str(folder), f"{name}=={version}"]
        try:
            done = subprocess.run(
                [*command, *options],
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=False,
            )
        except subprocess.SubprocessError as error:
            raise NotToBeHad(f"{name} {version} cannot be fetched from PyPI: {error}") from error
        if done.returncode != 0:
            raise NotToBeHad(f"{name} {version} cannot be fetched from PyPI: {done.stderr[-500:]}")
        (found,) = folder.glob("*.whl")
        return found

    return _unpacked(f"{name}-{version}", fetch)


def go_module(name: str, version: str, sha256: str) -> Path:
    """The files of a module of Go, which the proxy sends as a zip."""

    def fetch(folder: Path) -> Path:
        proxy = os.environ.get("HAMLET_GO_PROXY", GO_PROXY)
        url = f"{proxy}/{name}/@v/{version}.zip"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
                content = answer.read()
        except OSError as error:
            raise NotToBeHad(f"{url} cannot be fetched: {error}") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise NotToBeHad(f"{url} is not what it was")
        found = folder / "module.zip"
        found.write_bytes(content)
        return found

    return _unpacked(f"{name.replace('/', '-')}-{version}", fetch) / f"{name}@{version}"


def _unpacked(name: str, fetch: Callable[[Path], Path]) -> Path:
    """All or nothing, should another process do the same."""
    folder = cache_of("tools") / name
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            there = Path(temporary)
            with zipfile.ZipFile(fetch(there)) as archive:
                archive.extractall(there / "unpacked")
            try:
                (there / "unpacked").rename(folder)
            except OSError:  # the other one was first
                assert folder.exists()
    return folder
