"""Compiles the Java programs of `java/`, once for each state of their sources.

The compiler is Eclipse's, an archive like the others, so a Java runtime is enough.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from runtime.cache_dir import cache_of
from runtime.errors import HamletError
from spark_ingest import java
from spark_ingest.jars import Jar, fetched, listed

#: Of NAME.jars. They are what `mvn dependency:list` gives in scope runtime, with digests: for
#: flink-cep, flink-streaming-java and flink-clients; for esper-common, -compiler and -runtime.
JARS = Path(__file__).parent
SOURCES = JARS / "java"
COMPILER = Jar(
    "org.eclipse.jdt:ecj:3.46.100",
    "74c93172475fee0cd4e6eefb44233516dd40525642da35d009146d97ea598229",
)
COMMON = ("Event", "Job", "Query", "Rival", "Total")
OWN = {"flink": ("FlinkRival",), "esper": ("Epl", "EsperRival")}
LIMIT_S = 300


@cache
def class_path(name: str) -> tuple[Path, ...]:
    """The archives of a system, and our program for it."""
    jars = fetched(listed(JARS / f"{name}.jars"), cache_of("rivals"))
    return (_compiled(name, jars), *jars)


def _compiled(name: str, jars: list[Path]) -> Path:
    sources = [SOURCES / f"{each}.java" for each in (*COMMON, *OWN[name])]
    text = b"".join(path.read_bytes() for path in (*sources, JARS / f"{name}.jars"))
    folder = cache_of("rivals") / f"{name}-{hashlib.sha256(text).hexdigest()[:16]}"
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            made = Path(temporary) / "classes"
            _compile(sources, jars, made)
            try:
                made.rename(folder)
            except OSError:  # another process was first
                shutil.rmtree(made, ignore_errors=True)
    return folder


def _compile(sources: list[Path], jars: list[Path], folder: Path) -> None:
    (compiler,) = fetched([COMPILER], cache_of("rivals"))
    program = java.java_home(os.environ) / "bin" / "java"
    command = [str(program), "-jar", str(compiler), "-17", "-nowarn", "-encoding", "UTF-8"]
    path = os.pathsep.join(map(str, jars))
    done = subprocess.run(
        [*command, "-cp", path, "-d", str(folder), *map(str, sources)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode != 0:
        raise HamletError(f"{sources[-1].name} does not compile: {done.stderr.strip()}")
