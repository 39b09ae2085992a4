"""Pairs of text: `==== title`, what goes in, `----`, what must come out.

With HAMLET_UPDATE=1 in the environment, tests write what came out; read the diff before you keep
it.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

UPDATE = bool(os.environ.get("HAMLET_UPDATE"))


@dataclass
class Pair:
    title: str
    given: str
    wanted: str

    @property
    def marks(self) -> set[str]:
        """The words in square brackets of the title."""
        return set(re.findall(r"\[(\w+)\]", self.title))

    def __str__(self) -> str:
        return f"==== {self.title}\n{self.given}\n----\n{self.wanted}\n"


class Goldens:
    """The pairs of some files. `check` compares, or remembers what `write` will write."""

    def __init__(self, *paths: Path) -> None:
        self._files = {path: _read(path) for path in sorted(paths)}

    @property
    def pairs(self) -> dict[str, Pair]:
        files = self._files.items()
        return {f"{path.stem}: {pair.title}": pair for path, pairs in files for pair in pairs}

    def check(self, pair: Pair, got: str) -> None:
        if UPDATE:
            pair.wanted = got
        assert got == pair.wanted

    def write(self) -> None:
        if UPDATE:
            for path, pairs in self._files.items():
                path.write_text("\n".join(map(str, pairs)), encoding="utf-8", newline="\n")


def _read(path: Path) -> list[Pair]:
    pairs = []
    for part in re.split(r"^==== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        given, _, wanted = rest.partition("\n----\n")
        pairs.append(Pair(title, given.strip("\n"), wanted.strip("\n")))
    return pairs
