"""Options behind the path of an input."""

import pytest

from runtime.errors import InputError
from runtime.io.input_options import InputPath, split_options


@pytest.mark.parametrize(
    ("text", "path", "multiline"),
    [
        ("a.csv", "a.csv", False),
        ("a.csv?multiline=true", "a.csv", True),
        ("a.csv?multiline=false", "a.csv", False),
        ("in/?multiline=true", "in/", True),
        ("-?multiline=true", "-", True),
        ("why?.csv?multiline=true", "why?.csv", True),
    ],
)
def test_multiline_follows_the_path(text, path, multiline):
    assert split_options(text) == InputPath(path, multiline)


def test_a_file_may_have_a_question_mark_in_its_name(tmp_path):
    for name in ("why?.csv", "a.csv?multiline=true"):
        path = str(tmp_path / name)
        (tmp_path / name).touch()
        assert split_options(path) == InputPath(path)


@pytest.mark.parametrize(
    "options", ["multiline=yes", "multiline", "header=no", "", "multiline=true&x"]
)
def test_other_options_are_refused(options):
    with pytest.raises(InputError, match="is not an input option") as caught:
        split_options(f"a.csv?{options}")
    assert "?multiline=true" in caught.value.render()
