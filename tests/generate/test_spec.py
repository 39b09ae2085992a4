"""`--input generate:SPEC`."""

import pyarrow as pa
import pytest

from runtime.errors import InputError
from runtime.generate import generate, parse_spec


def generated(spec):
    name, parameters = parse_spec(spec)
    return generate(name, **parameters)


def test_spec_is_the_same_as_the_call(table):
    spec = "ridesharing?events=20000&seed=1&burst=20&share=Travel:0.6,Pickup:0.1&rate=500&groups=9"
    given = {"seed": 1, "burst": 20.0, "share": {"Travel": 0.6, "Pickup": 0.1}}
    called = table("ridesharing", events=20_000, rate=500, groups=9, **given)
    assert pa.Table.from_batches(generated(spec)) == called


def test_start_and_escapes():
    spec = "stock?start=2025-01-01T00:00:00%2B02:00&share=Stock%3A1"
    _, parameters = parse_spec(spec)
    assert parameters == {
        "events": 10_000,
        "start": "2025-01-01T00:00:00+02:00",
        "share": {"Stock": 1.0},
    }
    assert parse_spec("stock?start=2025-01-01T00:00:00+02:00")[1]["start"].endswith("+02:00")


@pytest.mark.parametrize("spec", ["taxi", "taxi?", " taxi?& "])
def test_nothing_but_a_name(spec):
    assert parse_spec(spec) == ("taxi", {"events": 10_000})


@pytest.mark.parametrize(
    ("spec", "message", "hint"),
    [
        ("ridesharin", "no stream `ridesharin`", "did you mean `ridesharing`?"),
        ("", "no stream ``", "there is"),
        ("stock?event=5", "unknown parameter `event`", "did you mean `events`?"),
        ("stock?events", "`events` has no value", "events=..."),
        ("stock?events=", "`events` has no value", "events=..."),
        ("stock?events=many", "`events` is many", "whole number"),
        ("stock?events=1.5", "`events` is 1.5", "whole number"),
        ("stock?rate=fast", "`rate` is fast", "number"),
        ("stock?seed=1&seed=2", "`seed` is given twice", ""),
        ("taxi?share=Travel", "`share` is Travel", "TYPE:SHARE"),
        ("taxi?share=Travel:x", "`share of Travel` is x", "number"),
        ("taxi?share=Travel:0.5,Travel:0.6", "names `Travel` twice", ""),
        ("taxi?start=yesterday", "`start` is yesterday", "2024-01-01"),
    ],
)
def test_errors(spec, message, hint):
    with pytest.raises(InputError) as raised:
        generated(spec)
    assert message in raised.value.message
    assert hint in (raised.value.hint or "")
