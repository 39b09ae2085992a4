"""What `--input` means for a job on Ray and Spark."""

import pytest

from hamlet.job.input_resolver import resolve_input
from hamlet.job.resolved_input import InputOptions
from runtime.errors import InputError
from runtime.io.reader import ReadRequest


def test_multiline_is_part_of_the_request_and_of_the_name(tmp_path):
    """A checkpoint does not go on with another reading of quotes."""
    path = tmp_path / "a.csv"
    path.write_bytes(b'time,type,"odd\nname"\n1,A,"x\ny"\n')
    resolved = resolve_input(InputOptions(f"{path}?multiline=true", ReadRequest()))
    assert resolved.options.needs.multiline
    assert resolved.name == f"{path}?multiline=true"
    assert resolved.probe_schema(tmp_path).names == ["time", "type", "odd\nname"]
    plain = resolve_input(InputOptions(str(path), ReadRequest()))
    assert plain.name == str(path)
    with pytest.raises(InputError, match=r"\?multiline=true"):
        plain.probe_schema(tmp_path)


def test_an_unknown_option_is_refused(tmp_path):
    with pytest.raises(InputError, match="`header=no` is not an input option"):
        resolve_input(InputOptions(f"{tmp_path}?header=no", ReadRequest()))
