"""What `--input` can be: a file, a folder, standard input, a generated stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from hamlet.local_runner import Source
from runtime.closable import Closing
from runtime.errors import InputError
from runtime.generate import generate, parse_spec, schema
from runtime.io.read import open_input
from runtime.pipeline.block import Block
from runtime.pipeline.dead_letter import no_dead
from runtime.types.attribute_kinds import Kind
from runtime.types.schema import Schema

GENERATE = "generate:"
ON_RAY = ("kafka:", "socket:")


def open_source(
    text: str,
    *,
    format: str | None,
    uses: Mapping[str, Kind],
    time_column: str,
    type_column: str,
    declared: Schema | None,
) -> Source:
    if text.startswith(GENERATE):
        return Generated(text)
    if text.startswith(ON_RAY):
        scheme = text.partition(":")[0]
        raise InputError(
            f"--input {scheme}: is for --engine ray: this process reads bounded inputs only",
            "leave out --engine local",
        )
    return open_input(
        text,
        format=format,
        uses=uses,
        time_column=time_column,
        type_column=type_column,
        declared=declared,
    )


class Generated(Closing):
    """A stream made up on the spot, read as if it came from a file."""

    def __init__(self, spec: str) -> None:
        name, parameters = parse_spec(spec.removeprefix(GENERATE))
        self._spec = spec
        self._batches = generate(name, **parameters)
        self.events: int = parameters["events"]
        self.schema = schema(name)
        self.rows = 0
        self.dead: Counter[str] = Counter()
        self.skipped: list[str] = []

    def __iter__(self) -> Iterator[Block]:
        for batch in self._batches:
            rows = np.arange(self.rows, self.rows + batch.num_rows, dtype=np.int64)
            self.rows += batch.num_rows
            yield Block(batch, self._spec, rows, no_dead())

    def close(self) -> None:
        """Nothing is open."""
