"""A headless Chromium for tests, with its driver.

Debian's packages, fetched with what they depend on and unpacked into the cache folder: nothing is
installed, so nobody needs to be root. A Chromium that the machine has is used as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from runtime.cache_dir import cache_of

PACKAGES = ("chromium", "chromium-driver", "fonts-dejavu-core")


class Missing(Exception):
    """It cannot be had here, and why."""


@dataclass(frozen=True)
class Chromium:
    browser: Path
    driver: Path
    environment: dict[str, str]


def chromium() -> Chromium:
    found = shutil.which("chromium"), shutil.which("chromedriver")
    if found[0] and found[1]:
        return Chromium(Path(found[0]), Path(found[1]), {})
    root = cache_of("chromium") / "root"
    if not root.exists():
        _fetch(root)
    there = sorted({str(path.parent) for path in (root / "usr/lib").rglob("*.so*")})
    return Chromium(
        root / "usr/lib/chromium/chromium",
        root / "usr/bin/chromedriver",
        {"LD_LIBRARY_PATH": os.pathsep.join(there)},
    )


def _fetch(root: Path) -> None:
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise Missing("it comes from Debian's packages, and there is no apt-get")
    with TemporaryDirectory(dir=root.parent) as temporary, _lists(Path(temporary)) as apt:
        archives = Path(temporary) / "cache/archives"
        _run(*apt, "update")
        _run(*apt, "install", "--download-only", "--no-install-recommends", *PACKAGES)
        new = Path(temporary) / "root"
        for archive in sorted(archives.glob("*.deb")):
            _run("dpkg-deb", "--extract", archive, new)
        if not (new / "usr/lib/chromium/chromium").exists():
            raise Missing(f"Debian's package holds none: {sorted(new.glob('usr/*/chrom*'))}")
        if not root.exists():  # by another process, by now
            new.rename(root)


@contextmanager
def _lists(folder: Path) -> Iterator[list[str]]:
    """apt with lists and archives of its own, so that it changes nothing and needs no rights."""
    for each in ("lists/partial", "cache/archives/partial"):
        (folder / each).mkdir(parents=True)
    options = {
        "Debug::NoLocking": "1",
        "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "root",  # else root would fetch as a user who may not write here
    }
    yield ["apt-get", "-qq", "-y", *(f"-o{name}={value}" for name, value in options.items())]


def _run(*command: str | Path) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"{command[0]} failed: {done.stderr.strip()[-500:]}")
