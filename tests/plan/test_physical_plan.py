"""The physical plan as a value: which operator evaluates which query, and how two plans differ."""

from dataclasses import replace

import pyarrow as pa
import pytest

from plan.supporting import supports
from runtime.execution import state_file
from runtime.execution.operators.implementations import IMPLEMENTATIONS
from runtime.language.parser import parse
from runtime.language.query import Query
from runtime.pipeline.engine import Engine
from runtime.plan.assignment import make_physical_plan
from runtime.plan.operators.declaration import PlanContext
from runtime.plan.operators.operator_registry import OPERATORS
from runtime.plan.physical_plan import PhysicalPlan
from runtime.plan.planner import physical_plan_of
from runtime.plan.sharing_plan import SharingPlan

QUERIES = """
QUERY a RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 s
QUERY b RETURN COUNT(*) PATTERN SEQ(C, B+) WITHIN 10 s
QUERY rising RETURN COUNT(*) PATTERN B b+ WHERE b.x < NEXT(b).x WITHIN 10 s
QUERY falling RETURN COUNT(*) PATTERN B b+ WHERE b.x > NEXT(b).x WITHIN 10 s
QUERY next RETURN COUNT(*) PATTERN SEQ(A, B+) SEMANTICS skip-till-next-match WITHIN 10 s
QUERY not RETURN COUNT(*) PATTERN SEQ(A, NOT C, B) WITHIN 10 s
"""


def queries(*names: str) -> tuple[Query, ...]:
    found = parse(QUERIES)
    return tuple(found[name] for name in names) if names else found.queries


def plan_of(*names: str, sharing: SharingPlan | None = None) -> PhysicalPlan:
    return physical_plan_of(queries(*names), sharing or SharingPlan())


def nodes(plan: PhysicalPlan) -> list[tuple[str, tuple[str, ...]]]:
    return [(node.operator, tuple(query.name for query in node.active)) for node in plan]


def test_every_declared_operator_is_implemented():
    assert [operator.name for operator in OPERATORS] == list(IMPLEMENTATIONS)


def test_the_last_operator_supports_every_query():
    assert all(supports(OPERATORS[-1], query, {}) for query in queries())


def test_a_query_goes_to_the_first_operator_that_supports_it():
    assert nodes(plan_of()) == [
        ("graphlet", ("a", "b")),
        ("range_index", ("rising", "falling")),
        ("next_match", ("next",)),
        ("general", ("not",)),
    ]


def test_operators_that_were_asked_before_say_why_not():
    rejected = dict(plan_of().rejections["not"])
    assert rejected["graphlet"] == ("NOT",)
    assert list(rejected) == ["graphlet", "range_index", "next_match"]
    assert plan_of().rejections["a"] == ()


def test_unsigned_extremes_need_the_general_operator():
    (query,) = parse("RETURN MIN(B.u) PATTERN SEQ(A, B+) WITHIN 10 s")
    context = PlanContext({"u": pa.uint64()})
    plan = make_physical_plan((query,), context)
    assert nodes(plan) == [("general", (query.name,))]
    assert plan.rejections[query.name][0].obstacles == (
        "MIN or MAX of u, an unsigned 64-bit integer",
    )


def test_the_same_plan_has_no_difference():
    assert not plan_of().difference(plan_of())
    assert str(plan_of().difference(plan_of())) == "no operator changes"


def test_another_sharing_plan_moves_only_what_it_is_about():
    apart = SharingPlan(groups=(("a",), ("b",)))
    difference = plan_of().difference(plan_of(sharing=apart))
    assert [node.names for node in difference.stopped] == [("a", "b")]
    assert [node.names for node in difference.started] == [("a",), ("b",)]
    assert difference.moved == ("a", "b")
    assert len(difference.kept) == 3
    assert str(difference) == (
        "2 operators started, 1 operator stopped, 3 operators kept; 2 queries moved"
    )


def test_state_that_cannot_move_stays_when_a_query_leaves():
    before = plan_of()
    left = queries("a", "b", "falling", "next", "not")
    after = make_physical_plan(left, PlanContext(), before)
    (node,) = [node for node in after if node.operator == "range_index"]
    assert node.names == ("rising", "falling")
    assert node.retired == {"rising"}
    assert [each.name for each in node.active] == ["falling"]
    difference = before.difference(after)
    assert not difference
    assert node in difference.kept


def test_other_windows_strategies_restart_nothing():
    panes = replace(SharingPlan(), windows="panes")
    difference = plan_of().difference(plan_of(sharing=panes))
    assert not difference
    assert difference.kept[0].window_strategy == "panes"


def rows(start: int, count: int) -> pa.Table:
    times = range(start, start + count)
    return pa.table(
        {
            "time": list(times),
            "type": ["ABCB"[n % 4] for n in times],
            "x": [n * 7 % 5 for n in times],
        }
    )


def test_a_checkpoint_names_the_plan_and_restores_it():
    """A query that left keeps its place in the state of the others."""
    engine = Engine(QUERIES, time_unit="s", lateness=0)
    engine.process(rows(0, 25))
    engine.remove("rising")
    saved = engine.checkpoint()
    (executor,) = [part for part in state_file.read(saved) if part.part == "executor"]
    named = {each["operator"]: each for each in executor.data["plan"]}
    assert list(named) == ["graphlet", "range_index", "next_match", "general"]
    assert named["range_index"]["retired"] == ["rising"]
    left = "".join(f"QUERY {part}" for part in QUERIES.split("QUERY ")[1:] if "rising" not in part)
    restored = Engine(left, time_unit="s", lateness=0)
    restored.restore(saved)
    for each in (engine, restored):
        each.process(rows(25, 25))
    assert restored.finish() == engine.finish()


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_a_declaration_has_a_cost_and_a_size(operator):
    query = queries("a")[0]
    assert operator.cost(query).startswith("O(")
    assert operator.state_words(query) > 0
    assert operator.summary
