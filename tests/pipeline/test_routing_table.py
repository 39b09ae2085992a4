"""How events reach shards, and who owns these."""

import pyarrow as pa
import pytest

from runtime.language.parser import parse
from runtime.pipeline.routing_table import InputFormat, RoutingTable, routes_of

READING = InputFormat(
    columns=pa.schema(
        [("time", pa.int64()), ("type", pa.string()), ("g", pa.int64()), ("x", pa.float64())]
    )
)


def routes(text: str) -> dict[tuple[str, ...], tuple[frozenset[str] | None, tuple[str, ...]]]:
    return {route.attributes: (route.types, route.columns) for route in routes_of(parse(text))}


def test_queries_with_the_same_attributes_share_a_route() -> None:
    found = routes("""
        QUERY a RETURN COUNT(*) PATTERN SEQ(A, B+) GROUP-BY g WITHIN 1 minute
        QUERY b RETURN SUM(C.x) PATTERN SEQ(A, C+) WHERE [g] WITHIN 1 minute
        QUERY c RETURN COUNT(*) PATTERN A WITHIN 1 minute
    """)
    assert found == {
        ("g",): (frozenset("ABC"), ("g", "x")),
        (): (frozenset("A"), ()),
    }


@pytest.mark.parametrize(
    "text",
    [
        "RETURN COUNT(*) PATTERN A+ SEMANTICS contiguous WITHIN 1 minute",
        "RETURN COUNT(*) PATTERN A+ WITHIN 10 events",
    ],
)
def test_where_every_event_matters_all_types_come(text: str) -> None:
    assert routes(text) == {(): (None, ())}


def test_types_that_are_forbidden_come_too() -> None:
    text = "RETURN COUNT(*) PATTERN SEQ(A, NOT X, B) WITHIN 1 minute"
    assert routes(text) == {(): (frozenset("ABX"), ())}


@pytest.mark.parametrize("shards", [1, 2, 5, 8, 16])
@pytest.mark.parametrize("owners", [1, 2, 3, 4, 5, 8, 16])
def test_every_shard_has_one_owner(shards: int, owners: int) -> None:
    if owners > shards:
        return
    text = "RETURN COUNT(*) PATTERN A WITHIN 1 minute"
    routing = RoutingTable.of(parse(text), READING, shards, owners)
    owned = [list(routing.owned(owner)) for owner in range(owners)]
    assert [shard for each in owned for shard in each] == list(range(shards))
    assert max(map(len, owned)) - min(map(len, owned)) <= 1
