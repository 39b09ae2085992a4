"""Opens the `--input` of a run in one process: a file, a folder, stdin or a generated stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from hamlet.local_runner import BatchSource
from runtime.closable import Closable
from runtime.errors import InputError
from runtime.generate import generate, parse_spec, schema
from runtime.io.input_options import split_options
from runtime.io.read import open_input
from runtime.pipeline.block import RowBlock
from runtime.pipeline.dead_letter import no_dead
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.schema import Schema

GENERATE = "generate:"
#: Inputs that need `--engine ray`, and why.
_BOUNDED_ONLY = "this process reads bounded inputs only"
ON_RAY = {
    "kafka": _BOUNDED_ONLY,
    "socket": _BOUNDED_ONLY,
    "spark": "this process reads without Spark",
}


def open_source(
    text: str,
    *,
    format: str | None,
    uses: Mapping[str, AttributeKind],
    time_column: str,
    type_column: str,
    declared: Schema | None,
    follow_links: bool = False,
) -> BatchSource:
    if text.startswith(GENERATE):
        return GeneratedSource(text)
    scheme, colon, _ = text.partition(":")
    if colon and scheme in ON_RAY:
        raise InputError(
            f"--input {scheme}: is for --engine ray: {ON_RAY[scheme]}", "leave out --engine local"
        )
    path, multiline = split_options(text)
    return open_input(
        path,
        format=format,
        uses=uses,
        time_column=time_column,
        type_column=type_column,
        declared=declared,
        follow_links=follow_links,
        multiline=multiline,
    )


class GeneratedSource(Closable):
    """A generated stream, read as if it came from a file."""

    def __init__(self, spec: str) -> None:
        name, parameters = parse_spec(spec.removeprefix(GENERATE))
        self._spec = spec
        self._batches = generate(name, **parameters)
        self.events: int = parameters["events"]
        self.schema = schema(name)
        self.skipped: list[str] = []
        self.warnings: list[str] = []

    def __iter__(self) -> Iterator[RowBlock]:
        first = 0
        for batch in self._batches:
            rows = np.arange(first, first + batch.num_rows, dtype=np.int64)
            first += batch.num_rows
            yield RowBlock(batch, self._spec, rows, no_dead())

    def close(self) -> None:
        """Nothing is open."""
