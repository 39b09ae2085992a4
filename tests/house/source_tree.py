"""Reads the product's Python files from the working tree or from a git revision."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path
from typing import TypeAlias

PACKAGES = ("hamlet", "spark_ingest", "actors", "runtime")
# Path below the repository, with "/" between the parts, to the text of the file.
Sources: TypeAlias = dict[str, str]


def read_working_tree(root: Path) -> Sources:
    """Reads what git tracks, and new files that it does not ignore."""
    listed = _git(root, "ls-files", "--cached", "--others", "--exclude-standard", "--", *PACKAGES)
    paths = sorted(set(listed.decode().splitlines()))
    return {
        path: (root / path).read_text(encoding="utf-8")
        for path in paths
        if path.endswith(".py") and (root / path).is_file()
    }


def read_revision(root: Path, revision: str) -> Sources:
    archive = _git(root, "archive", "--format=tar", revision, "--", *PACKAGES)
    sources = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.name.endswith(".py") else None
            if file is not None:
                sources[member.name] = file.read().decode("utf-8")
    return sources


def _git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True).stdout
