"""The wheel owns four names, holds grammar and live page, and works outside the checkout."""

import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

PACKAGES = {"hamlet", "spark_ingest", "actors", "runtime"}
QUERY = "RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WITHIN 1 minute\n"
EVENTS = "time,type\n1,A\n2,B\n3,B\n"


@pytest.fixture(scope="module")
def uv(needs) -> str:
    return needs("uv")


@pytest.fixture(scope="module")
def version(root: Path) -> str:
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]


@pytest.fixture(scope="module")
def wheel(uv: str, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    dist = tmp_path_factory.mktemp("dist")
    run(uv, "build", "--wheel", "--python", sys.executable, "--out-dir", dist, root, cwd=dist)
    (built,) = dist.glob("*.whl")
    return built


def test_wheel_owns_exactly_the_four_packages(wheel: Path, version: str):
    names = zipfile.ZipFile(wheel).namelist()
    top_level = {name.split("/")[0] for name in names}
    assert top_level == PACKAGES | {f"hamlet_runtime-{version}.dist-info"}
    assert "runtime/language/grammar.lark" in names
    assert {f"runtime/metrics/web/{name}" for name in ("live.html", "live.js", "style.css")} <= {
        *names
    }


def test_wheel_runs_outside_the_checkout(
    uv: str, wheel: Path, version: str, root: Path, tmp_path: Path
):
    python = tmp_path / "venv" / "bin" / "python"
    lock = root / "requirements.lock"
    run(uv, "venv", "--python", sys.executable, tmp_path / "venv", cwd=tmp_path)
    run(uv, "pip", "install", "--python", python, "-c", lock, wheel, cwd=tmp_path)
    hamlet = python.with_name("hamlet")

    assert version in run(hamlet, "--version", cwd=tmp_path)
    (tmp_path / "tiny.sase").write_text(QUERY)
    run(hamlet, "check", "tiny.sase", cwd=tmp_path)
    (tmp_path / "tiny.csv").write_text(EVENTS)
    given = ("--input", "tiny.csv", "--engine", "local", "--format", "json")
    out = run(hamlet, "run", "tiny.sase", *given, cwd=tmp_path)
    assert json.loads(out) == {"query": "q1", "window_start": 0, "window_end": 60, "n": 3.0}


def run(*command: object, cwd: Path) -> str:
    """What the command printed; the test fails with it if the command does."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout
