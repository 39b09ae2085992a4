"""Every path of this repository that a page names exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("README.md")),
]
FOLDERS = "actors|benchmarks|deploy|docs|examples|grafana|hamlet|runtime|spark_ingest|tests"
NAMED = re.compile(rf"(?<![\w/.-])(?:{FOLDERS})/[\w/.-]*[\w/]")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_paths_exist(page: Path):
    named = {path for path in NAMED.findall(page.read_text("utf-8")) if "NAME" not in path}
    assert sorted(path for path in named if not (ROOT / path).exists()) == []
