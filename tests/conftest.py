"""Settings and fixtures for all tests."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

# Two test processes share two cores, so the time of one example says little.
settings.register_profile("hamlet", settings(), deadline=None)
settings.load_profile("hamlet")


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def needs() -> Callable[[str], str]:
    """`needs("helm")` is the path of that program; the test is skipped where it is missing."""

    def find(tool: str) -> str:
        beside_python = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        path = shutil.which(tool, path=beside_python)
        if path is None:
            pytest.skip(f"tool: {tool} is not installed")
        return path

    return find


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium, for all tests of this process."""
    from tools.browser import Missing, opened

    try:
        found = opened()
    except Missing as error:
        pytest.skip(f"tool: no Chromium: {error}")
    yield found
    found.quit()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return _missing_tool_fails((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return _missing_tool_fails((yield))


def _missing_tool_fails(report):
    """With HAMLET_REQUIRE_TOOLS set, a skip whose reason starts with "tool:" is a failure."""
    if report.skipped and os.environ.get("HAMLET_REQUIRE_TOOLS"):
        reason = str(report.longrepr[-1]).removeprefix("Skipped: ")
        if reason.startswith("tool:"):
            report.outcome = "failed"
            report.longrepr = f"{reason}, and HAMLET_REQUIRE_TOOLS is set"
    return report
