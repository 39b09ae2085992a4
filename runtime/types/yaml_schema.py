"""Reads a YAML file that declares event types and their attributes.

`Request: {driver: text, rider: int}`, or `Request: [driver, rider]` without
types.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import yaml

from runtime.errors import InputError, did_you_mean

_INT, _DOUBLE, _TEXT = pa.int64(), pa.float64(), pa.string()
_BOOL, _TIME, _DATE = pa.bool_(), pa.timestamp("us"), pa.date32()

DECLARABLE: dict[str, pa.DataType | None] = {
    **dict.fromkeys(("int", "integer", "long", "int64"), _INT),
    **dict.fromkeys(("double", "float", "number", "float64"), _DOUBLE),
    **dict.fromkeys(("text", "string", "str"), _TEXT),
    **dict.fromkeys(("bool", "boolean"), _BOOL),
    **dict.fromkeys(("timestamp", "datetime"), _TIME),
    "date": _DATE,
    "any": None,
}

Columns = dict[str, pa.DataType | None]


def read_yaml_schema(path: Path) -> tuple[Columns, dict[str, frozenset[str]]]:
    """All attributes with their types, and the attributes of each event type."""
    columns: Columns = {}
    by_type: dict[str, frozenset[str]] = {}
    for name, node in _entries(_root(path), path):
        attributes = dict(_attributes(node, path))
        for attribute, data_type in attributes.items():
            columns[attribute] = _both(columns.get(attribute), data_type, attribute, path)
        by_type[name] = frozenset(attributes)
    return columns, by_type


def _root(path: Path) -> yaml.Node:
    root: yaml.Node | None
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not YAML: {error}") from error
    if root is None:
        raise InputError(f"{path} declares nothing", _EXPECTED)
    return root


def _entries(node: yaml.Node, path: Path) -> Iterator[tuple[str, yaml.Node]]:
    """The entries of a mapping. Keys are used as written: `2` and `yes` are names too."""
    if not isinstance(node, yaml.MappingNode):
        raise InputError(f"{_place(node, path)}: a mapping is expected here", _EXPECTED)
    seen: set[str] = set()
    for key, value in node.value:
        name = _word(key, path)
        if name in seen:
            raise InputError(f"{_place(key, path)}: `{name}` is declared twice")
        seen.add(name)
        yield name, value


def _attributes(node: yaml.Node, path: Path) -> Iterator[tuple[str, pa.DataType | None]]:
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield _word(item, path), None
    elif not (isinstance(node, yaml.ScalarNode) and node.value in ("", "null", "~")):
        for name, value in _entries(node, path):
            yield name, _data_type(value, path)


def _data_type(node: yaml.Node, path: Path) -> pa.DataType | None:
    word = _word(node, path)
    if word.lower() not in DECLARABLE:
        hint = did_you_mean(word, DECLARABLE)
        raise InputError(f"{_place(node, path)}: `{word}` is not a type", hint)
    return DECLARABLE[word.lower()]


def _word(node: yaml.Node, path: Path) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise InputError(f"{_place(node, path)}: a name is expected here", _EXPECTED)
    return str(node.value)


def _both(
    before: pa.DataType | None, now: pa.DataType | None, attribute: str, path: Path
) -> pa.DataType | None:
    """Merges two declarations: an attribute has one column, and one type, in all event types."""
    if before is None or now is None or before == now:
        return now if before is None else before
    if {before, now} == {_INT, _DOUBLE}:
        return _DOUBLE
    raise InputError(f"{path}: `{attribute}` is declared as {before} and as {now}")


def _place(node: yaml.Node, path: Path) -> str:
    return f"{path}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"


_EXPECTED = "write `Request: {driver: text, rider: int}` or `Request: [driver, rider]`"
