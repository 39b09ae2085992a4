"""All manifests of the examples as text, so that a change of the chart shows what it changes.

`HAMLET_GOLDEN=write` rewrites them.
"""

import os
from pathlib import Path

import pytest

from tools.kubernetes import EXAMPLES, PROMETHEUS_OPERATOR, readable, render

pytestmark = pytest.mark.usefixtures("chart_tools")
GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("values", EXAMPLES, ids=lambda path: path.stem)
def test_golden(values):
    found = readable(render(values, apis=(PROMETHEUS_OPERATOR,)))
    golden = GOLDEN / values.name
    if os.environ.get("HAMLET_GOLDEN") == "write":
        golden.write_text(found)
    assert found == golden.read_text()
