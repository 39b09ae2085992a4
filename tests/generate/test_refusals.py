"""Parameters that make no stream are refused at the call, with a way out."""

import pytest

from runtime.errors import InputError
from runtime.generate import generate, schema


@pytest.mark.parametrize(
    "parameters",
    [
        {"events": -1},
        {"events": 10**400},
        {"seed": -1},
        {"rate": 0},
        {"rate": -5},
        {"rate": float("nan")},
        {"rate": float("inf")},
        {"burst": 0.5},
        {"burst": float("nan")},
        {"groups": 0},
        {"groups": 10**9},
        {"batch_rows": 0},
        {"batch_rows": 65_537},
        {"rate": 1e-12},
        {"start": "9999-12-31"},
        {"share": {"Travel": -0.1}},
        {"share": {"Travel": 1.1}},
        {"share": {"Travel": float("nan")}},
        {"share": {"Travel": 0.7, "Pickup": 0.4}},
        {"share": {"Travel": 0.2, "Pickup": 0.2, "Dropoff": 0.2}},
    ],
    ids=str,
)
def test_value_out_of_range(parameters):
    with pytest.raises(InputError) as raised:
        generate("taxi", **{"events": 10, **parameters})
    assert raised.value.hint


def test_unknown_stream():
    for call in (lambda: schema("stok"), lambda: generate("stok", events=1)):
        with pytest.raises(InputError, match="no stream `stok`") as raised:
            call()
        assert raised.value.hint == "did you mean `stock`?"


def test_unknown_type():
    with pytest.raises(InputError, match="unknown type `travel`") as raised:
        generate("taxi", events=1, share={"travel": 0.5})
    assert raised.value.hint == "did you mean `Travel`?"


def test_a_type_that_comes_too_often_for_its_bursts():
    with pytest.raises(InputError, match="another type") as raised:
        generate("ridesharing", events=1, burst=10, share={"Travel": 0.95})
    assert raised.value.hint == "choose a share below 0.909 or longer bursts"
    generate("ridesharing", events=1, burst=10, share={"Travel": 0.908})
    generate("ridesharing", events=1, burst=20, share={"Travel": 0.95})


def test_no_room_for_other_types():
    with pytest.raises(InputError, match="another type") as raised:
        generate("ridesharing", events=1, share={"Travel": 1.0 - 1e-9})
    assert raised.value.hint == "leave a share to other types"


def test_the_only_type_has_all_events():
    with pytest.raises(InputError, match=r"add up to 0\.5"):
        generate("stock", events=1, share={"Stock": 0.5})
