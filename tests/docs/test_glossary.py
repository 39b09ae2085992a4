"""The glossary names each term once, in alphabetical order, with a path that exists."""

import re
from pathlib import Path

import pytest

ROW = re.compile(r"^\| \*\*(?P<term>[^*]+)\*\* \| (?P<meaning>.+) \| `(?P<path>[^`]+)` \|$")


@pytest.fixture(scope="module")
def entries(root: Path) -> list[dict[str, str]]:
    lines = (root / "docs" / "glossary.md").read_text("utf-8").splitlines()
    table = [line for line in lines if line.startswith("|")][2:]
    found = [ROW.match(line) for line in table]
    assert table
    assert None not in found, [line for line, each in zip(table, found, strict=True) if not each]
    return [each.groupdict() for each in found if each]


def test_every_path_exists(entries, root: Path):
    assert [each["path"] for each in entries if not (root / each["path"]).exists()] == []


def test_terms_are_unique_and_sorted(entries):
    terms = [each["term"].lower() for each in entries]
    assert terms == sorted(set(terms))


def test_every_term_is_explained_in_a_sentence(entries):
    assert [each["term"] for each in entries if not each["meaning"].endswith(".")] == []
