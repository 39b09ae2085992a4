"""Flags, logs and shutdown of the Java processes of a session."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

# Spark, Arrow and Ray access JDK internals, which Java 17 allows only with these flags. Without
# them in the driver, the executors *and* RayDP's master, the export of blocks fails or hangs.
_OPEN = (
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.math",
    "java.net",
    "java.nio",
    "java.text",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "jdk.internal.ref",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar",
)
# Avro allocates what the length in a value says, before it looks whether the value is that long: a
# few damaged bytes would take all memory of an executor.
_AVRO_LIMITS = {"string": 64 << 20, "bytes": 64 << 20, "collectionItems": 8 << 20}
FLAGS = (
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN),
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Duser.timezone=UTC",
    *(f"-Dorg.apache.avro.limits.{what}.maxLength={most}" for what, most in _AVRO_LIMITS.items()),
)
# Spark's driver plans many small jobs and processes no rows: for minutes, the second compiler would
# use more of a core than all the planning.
QUICK = "-XX:TieredStopAtLevel=1"
# RayDP's two master processes only pass messages: they should start fast and stay small.
SMALL = (QUICK, "-XX:+UseSerialGC", "-Xmx256m")
_PATIENCE_S = 10

_LOG4J = """\
status = off
appender.file.type = File
appender.file.name = file
appender.file.fileName = {file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{ISO8601}} %p %c{{1}}: %m%n%ex
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
"""


def temporary_files(folder: Path) -> str:
    """The flag that keeps the temporary files of a JVM below `folder`, with which they are removed.
    A JVM that is killed leaves unpacked libraries and empty folders of Spark."""
    own = folder / "java"
    own.mkdir(mode=0o700, exist_ok=True)
    return f"-Djava.io.tmpdir={own}"


def write_log4j(config: Path, log: Path) -> Path:
    """Writes the settings of a log of warnings and errors."""
    config.write_text(_LOG4J.format(file=log), encoding="utf-8")
    return config


def ended() -> int | None:
    """The process id of the driver's JVM, if it was started and has died."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    # Whoever starts Python from the JVM, as spark-submit does, has no process below.
    if gateway is None or gateway.proc is None or gateway.proc.poll() is None:
        return None
    return int(gateway.proc.pid)


def end_gateway() -> None:
    """Ends the driver's JVM, which PySpark would keep for the next session of this process.

    The next one may be on another cluster, and a JVM cannot change its flags, nor Ray's token.
    """
    from pyspark import SparkContext

    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    if gateway is None:
        return
    with suppress(Exception):
        gateway.shutdown()
    gateway.proc.stdin.close()  # the JVM ends when its standard input closes
    try:
        gateway.proc.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
