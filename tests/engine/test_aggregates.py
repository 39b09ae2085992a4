"""What the declarations of aggregate functions promise to those that read them."""

import pytest

from engine.streams import stream
from runtime.execution.finalize import FINALIZERS
from runtime.language.aggregates import AGGREGATES, Argument, LaneInput, ResultKind
from runtime.language.parser import parse
from runtime.pipeline.engine import aggregate


def written(name: str) -> str:
    return f"{name}(A.x)" if AGGREGATES[name].argument is Argument.ATTRIBUTE else f"{name}(A)"


def test_every_function_that_computes_numbers_says_how():
    computed = {f.name for f in AGGREGATES.values() if f.result is not ResultKind.ATTRIBUTE}
    assert set(FINALIZERS) == computed


@pytest.mark.parametrize("name", AGGREGATES)
def test_a_query_has_the_lanes_that_its_function_declares(name: str):
    (query,) = parse(f"RETURN {written(name)} PATTERN A+ WITHIN 1 s")
    attribute = "x" if AGGREGATES[name].argument is Argument.ATTRIBUTE else None
    assert [(lane.fold, lane.input) for lane in query.lanes] == [
        (fold, LaneInput(attribute, power)) for fold, power in AGGREGATES[name].lanes
    ]


@pytest.mark.parametrize("numeric", ["float", "exact"])
@pytest.mark.parametrize("name", AGGREGATES)
def test_a_result_without_rows_has_the_same_columns(name: str, numeric: str):
    table = stream("a1 a2", x=[1.5, 2.5])
    schemas = []
    for least in (0, 9):
        query = f"RETURN {written(name)} AS v PATTERN A+ HAVING COUNT(*) > {least} WITHIN 9 s"
        (result,) = aggregate(query, table, numeric=numeric).values()
        schemas.append((result.num_rows > 0, result.schema))
    assert schemas == [(True, schemas[0][1]), (False, schemas[0][1])]
