"""CSV is read by one grammar: what a field is, where a row ends, and which quotes are wrong."""

import io
import json
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runtime.errors import InputError
from runtime.io import csv_split
from runtime.io.csv_header import CsvHeader, header_of
from runtime.io.read import open_input

OPEN = "a quote is not closed before the end"
MISQUOTED = "text follows a closing quote"
WELL_QUOTED = b'time,type,v\n1,A,"x, ""y"""\n2,A,""\n3,A,5" disk\n\n4,"A",z\n'


class Read(NamedTuple):
    rows: list[tuple[int, list[str | None]]]
    dead: list[tuple[int, str, str]]


def read(content: bytes, multiline: bool = False) -> Read:
    found = Read([], [])
    with open_input("-", stdin=io.BytesIO(content), format="csv", multiline=multiline) as source:
        for block in source:
            values = [list(row.values()) for row in block.batch.to_pylist()]
            found.rows.extend(zip(block.rows.tolist(), values, strict=True))
            found.dead.extend(
                (d["row"], d["reason"], json.loads(d["event"])) for d in block.dead.to_pylist()
            )
    return found


def by_hand(text: str, width: int, multiline: bool) -> Read | None:
    """Character by character. None for a file that is refused."""
    found = Read([], [])
    at = number = 0
    while at < len(text):
        start, wrong = at, ""
        values: list[str | None] = []
        while at < len(text) and text[at] not in "\r\n":
            field, at, fault = _field(text, at, multiline)
            values.append(field)
            wrong = wrong or fault
            if at == len(text) or text[at] != ",":
                break
            at += 1
            if at == len(text) or text[at] in "\r\n":
                values.append(None)
        record = text[start:at]
        at += 1
        if not record:
            continue
        if wrong == OPEN and not multiline:
            return None
        if not wrong and len(values) != width:
            wrong = f"fields: {len(values)}, not {width}"
        if wrong:
            found.dead.append((number, wrong, record))
        else:
            found.rows.append((number, values))
        number += 1
    return found


def _field(text: str, at: int, multiline: bool) -> tuple[str | None, int, str]:
    """The value of a field, where it ends, and what is wrong with it."""
    ends = ",\r\n"
    if text[at] != '"':
        end = min([len(text), *(n for n in range(at, len(text)) if text[n] in ends)])
        return text[at:end] or None, end, ""
    value, at = "", at + 1
    while at < len(text) and (multiline or text[at] not in "\r\n"):
        if text[at : at + 2] == '""':
            value, at = value + '"', at + 2
        elif text[at] == '"':
            end = min([len(text), *(n for n in range(at + 1, len(text)) if text[n] in ends)])
            return value, end, MISQUOTED if end > at + 1 else ""
        else:
            value, at = value + text[at], at + 1
    return value, at, OPEN


@given(st.text(',"\n\ra é', max_size=60), st.integers(1, 20), st.booleans())
@example('"a\n"', 20, True)
@example('""a,"', 20, True)
@example('"a"b,"c\nd"\n1,2', 20, True)
@example('x,"a"b\n1,2\n', 3, False)
@example('""",2\n3,4', 3, True)
def test_any_text_is_read_as_by_hand(text, size, multiline):
    wanted = by_hand(text, 2, multiline)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_split, "BLOCK_BYTES", size)
        if wanted is None:
            with pytest.raises(InputError, match=r"not closed on its line.*multiline=true"):
                read(b"time,type\n" + text.encode(), multiline)
        else:
            assert read(b"time,type\n" + text.encode(), multiline) == wanted


@pytest.mark.parametrize("multiline", [False, True])
def test_quotes_are_right_or_the_row_is_dead(multiline):
    found = read(WELL_QUOTED + b'5,"A"x,y\n6,"A","x" \n7,A,y\n8,"A"x\n', multiline)
    assert [number for number, _ in found.rows] == [0, 1, 2, 3, 6]
    assert [values[2] for _, values in found.rows] == ['x, "y"', "", '5" disk', "z", "y"]
    assert found.dead == [
        (4, MISQUOTED, '5,"A"x,y'),
        (5, MISQUOTED, '6,"A","x" '),
        (7, MISQUOTED, '8,"A"x'),
    ]


def test_misquoted_rows_keep_their_place_beside_rows_with_too_many_fields():
    found = read(b'time,type\n1\n"a"b,2\n2,A\n3\n"c"d,3\n4,5,6\n5,B\n')
    assert found.rows == [(2, ["2", "A"]), (6, ["5", "B"])]
    assert [(row, reason[:6]) for row, reason, _ in found.dead] == [
        (0, "fields"),
        (1, "text f"),
        (3, "fields"),
        (4, "text f"),
        (5, "fields"),
    ]


def test_a_line_break_in_quotes_needs_multiline():
    content = b'time,type,v\n1,A,x\n2,A,"x\ny"\n3,A,z\n'
    with pytest.raises(InputError, match=r"row 1 of stdin .*\?multiline=true") as caught:
        read(content)
    assert "--input events.csv?multiline=true" in caught.value.render()
    assert [values[2] for _, values in read(content, multiline=True).rows] == ["x", "x\ny", "z"]


def test_in_a_folder_such_a_file_is_one_dead_letter(tmp_path):
    (tmp_path / "1.csv").write_bytes(b'time,type,v\n1,A,"x\ny"\n')
    (tmp_path / "2.csv").write_bytes(b"time,type,v\n2,A,z\n")
    with open_input(tmp_path) as source:
        blocks = list(source)
    assert [row for block in blocks for row in block.batch["v"].to_pylist()] == ["z"]
    (dead,) = [dead for block in blocks for dead in block.dead.to_pylist()]
    assert dead["source"] == str(tmp_path / "1.csv")
    assert dead["row"] is None
    assert "?multiline=true" in dead["reason"]


def test_such_a_row_behind_the_first_block_ends_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_split, "BLOCK_BYTES", 20)
    (tmp_path / "1.csv").write_bytes(b"time,type,v\n" + b"1,A,z\n" * 10 + b'1,A,"x\ny"\n')
    (tmp_path / "2.csv").write_bytes(b"time,type,v\n2,A,z\n")
    with open_input(tmp_path) as source:
        blocks = list(source)
    assert blocks[-1].batch["time"].to_pylist() == ["2"]
    (dead,) = [dead for block in blocks for dead in block.dead.to_pylist()]
    before = sum(block.batch.num_rows for block in blocks[:-1])
    assert dead["reason"].startswith(f"damaged after {before} rows: row 10 of ")


def test_a_misquoted_row_may_not_be_utf8():
    found = read(b'time,type\n"a"\xff,A\n1,B\n')
    assert found.dead == [(0, "the row is not UTF-8", '"a"\\xff,A')]


@pytest.mark.parametrize(
    ("content", "names", "lines"),
    [
        (b"time,type", ["time", "type"], 1),
        (b"\xef\xbb\xbftime,type\r\n1,A\r\n", ["time", "type"], 1),
        (b'\n\r\n\rtime,"a ""b"", c"\r1,A\r', ["time", 'a "b", c'], 4),
        (b'time,5" disk,\n\n\n1,A\n', ["time", '5" disk', ""], 1),
    ],
)
def test_the_header(tmp_path, content, names, lines):
    (tmp_path / "a.csv").write_bytes(content)
    for multiline in (False, True):
        assert header_of(tmp_path / "a.csv", multiline) == CsvHeader(names, lines)


def test_a_header_of_two_lines_needs_multiline(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'time,"odd\nname"\n1,A\n')
    assert header_of(path, multiline=True) == CsvHeader(["time", "odd\nname"], 2)
    with pytest.raises(InputError, match=r"the header of .*\?multiline=true"):
        header_of(path)


def test_a_misquoted_header_is_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes(b'time,"ty"pe\n1,A\n')
    with pytest.raises(InputError, match=r"the header of .*a\.csv is not CSV"):
        header_of(tmp_path / "a.csv")
