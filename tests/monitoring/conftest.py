"""Prometheus' own tool."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from tools.patience import PATIENCE_S
from tools.prometheus import NotToBeHad, programs


@pytest.fixture(scope="session")
def promtool() -> Callable[..., str]:
    """`promtool("check", "rules", path)` is what it says; it must like what it sees."""
    try:
        tool = programs()[1]
    except NotToBeHad as error:
        pytest.skip(f"tool: {error}")

    def run(*arguments: object, stdin: str = "") -> str:
        command = [str(tool), *map(str, arguments)]
        done = subprocess.run(
            command,
            input=stdin.encode(),
            capture_output=True,
            check=False,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, (done.stdout + done.stderr).decode()
        return done.stdout.decode()

    return run
