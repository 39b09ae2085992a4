"""What `explain` says: golden pairs (`NAME.sase`, `NAME.txt`), JSON, DOT, and the picture."""

import json
import random
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from runtime.errors import HamletError, WorkloadError
from runtime.language.parser import parse
from runtime.language.query import Workload
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat
from runtime.plan.assignment import make_physical_plan
from runtime.plan.explain import InputSection, explain
from runtime.plan.operators.declaration import PlanContext
from runtime.plan.planner import NAMES

GOLDEN = Path(__file__).parent / "golden"
PAIRS = sorted(path.stem for path in GOLDEN.glob("*.sase"))
SVG = "{http://www.w3.org/2000/svg}"

TWO = "QUERY q1 RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 1 min " + (
    "QUERY q2 RETURN COUNT(*) PATTERN SEQ(C, B+) WITHIN 1 min"
)


def workload(*patterns: str, clauses: str = "WITHIN 10 minutes") -> Workload:
    return parse("\n".join(f"RETURN COUNT(*) PATTERN {p} {clauses}" for p in patterns))


def texts(svg: str, kind: str) -> list[str]:
    return [
        node.text or ""
        for node in ET.fromstring(svg).iter(f"{SVG}text")
        if node.get("class") == kind
    ]


@pytest.mark.parametrize("name", PAIRS)
def test_golden_text(name: str):
    """To change one: `hamlet explain NAME.sase --output NAME.txt`, and read the difference."""
    queries = parse((GOLDEN / f"{name}.sase").read_text())
    assert explain(queries).text() == (GOLDEN / f"{name}.txt").read_text()


def test_ties_by_arrival_are_said():
    assert "as they arrived" in explain(parse(TWO), ties="arrival").text().splitlines()[0]


TYPED = [
    ("RETURN COUNT(*) PATTERN T+ WHERE T.name < NEXT(T).name WITHIN 10 s", "range_index"),
    ("RETURN MIN(T.name) PATTERN T+ WITHIN 10 s", "graphlet"),
    ("RETURN COUNT(*) PATTERN T+ WHERE T.name = 'a' WITHIN 10 s", "graphlet"),
]


@pytest.mark.parametrize("data_type", [pa.int32(), pa.uint64(), pa.float32(), pa.string()], ids=str)
@pytest.mark.parametrize(("text", "assumed"), TYPED)
def test_operators_are_those_that_run(text: str, assumed: str, data_type: pa.DataType):
    """With the types of the input, an explanation names the operators of the engine."""
    columns = pa.schema({"time": pa.int64(), "type": pa.string(), "name": data_type})
    given = explain(text, types=columns)
    assert given.assumed_types == ()
    assert "assumed" not in given.text()
    (guessed,) = explain(text).operators
    assert guessed.operator == assumed
    try:
        bound = BoundWorkload(parse(text), InputFormat(time_unit="s", columns=columns), "float")
    except WorkloadError:
        return  # the input does not fit: nothing runs
    physical = make_physical_plan(bound.workload.queries, PlanContext(bound.types))
    assert [each.operator for each in given.operators] == [node.operator for node in physical]


def test_text_that_is_compared_runs_on_the_general_operator():
    text = "RETURN COUNT(*) PATTERN T+ WHERE T.name < NEXT(T).name WITHIN 10 s"
    head = "attribute types assumed from the queries: name"
    assert explain(text).text().splitlines()[0].endswith(head)
    (given,) = explain(text, types={"name": pa.string()}).operators
    assert given.operator == "general"


def test_an_unsigned_minimum_runs_on_the_general_operator():
    text = "RETURN MIN(T.x) PATTERN T+ WITHIN 10 s"
    assert [each.operator for each in explain(text).operators] == ["graphlet"]
    (given,) = explain(text, types={"x": pa.uint64()}).operators
    assert given.operator == "general"


def test_choices_are_checked():
    with pytest.raises(HamletError, match="planner is `gloira`, but must be one of auto, none"):
        explain(TWO, planner="gloira")
    with pytest.raises(HamletError, match="ties is `gloria`, but must be one of strict, arrival"):
        explain(TWO, ties="gloria")


@pytest.mark.parametrize(("count", "parts"), [(64, 1), (65, 2), (200, 4)])
def test_a_group_with_too_many_conditions_is_cut(count: int, parts: int):
    """As the engine cuts it: 64 conditions on a type, a bit of a word each."""
    queries = parse(
        "\n".join(
            f"RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE B.x > {n} WITHIN 1 min" for n in range(count)
        )
    )
    said = explain(queries)
    assert [len(each.queries) for each in said.operators] == [count // parts] * (parts - 1) + [
        count - count // parts * (parts - 1)
    ]
    line = f"cut from a share group of {count} queries: they have more conditions on B than one"
    assert (line in said.text()) == (parts > 1)


def test_conditions_are_written_as_they_can_be_read_again():
    written = (
        "(a.x = 1 OR a.y IS NOT NULL) AND NOT (a.x > 2 AND a.y < 3) AND a.x BETWEEN -1 AND 5"
        " AND a.t = 'it''s' AND (a.x + 1) * 2 > a.x AND a.\"odd name\" != 0"
    )
    said = explain(workload("A a", clauses=f"WHERE {written} WITHIN 1 s")).queries[0].local
    again = explain(workload("A a", clauses=f"WHERE {_and(said)} WITHIN 1 s")).queries[0].local
    assert said == again
    assert said[0] == "a.x = 1 OR a.y IS NOT NULL"
    assert said[3] == "a.t = 'it''s'"


def _and(conditions: tuple[str, ...]) -> str:
    return " AND ".join(f"({condition})" for condition in conditions)


# ---- why a query is alone ------------------------------------------------------------------

ALONE = [
    ("A+", "WITHIN 1 min", "A+", "WHERE [k] WITHIN 1 min", "but in partitions by k"),
    ("A+", "WITHIN 1 min", "A+", "SEMANTICS contiguous WITHIN 1 min", "but with contiguous"),
    ("A+", "WITHIN 1 min", "A+", "WITHIN 5 events", "but in windows of events"),
    ("A+", "WITHIN 1 min", "B+", "WITHIN 1 min", "no other query has A+"),
    ("A", "WITHIN 1 min", "A+", "WITHIN 1 min", "no Kleene part"),
]


@pytest.mark.parametrize(("one", "its", "other", "others", "reason"), ALONE)
def test_a_query_alone_has_a_reason(one: str, its: str, other: str, others: str, reason: str):
    queries = parse(f"RETURN COUNT(*) PATTERN {one} {its} RETURN COUNT(*) PATTERN {other} {others}")
    assert reason in (explain(queries, planner="greedy").queries[0].alone or "")


EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*/workload.sase"))


@pytest.mark.parametrize("planner", NAMES)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_every_example_by_every_planner(path: Path, planner: str):
    said = explain(parse(path.read_text()), planner=planner)
    assert planner in (said.plan.planner, "auto")
    if any(each.operator == "graphlet" for each in said.operators):
        assert f"planner        {said.plan.planner}, since" in said.text()
    assert json.loads(said.json())["plan"]["planner"] == said.plan.planner


def test_under_none_the_planner_is_the_reason():
    said = explain(parse(TWO), planner="none")
    assert all("the planner `none`" in (query.alone or "") for query in said.queries)
    assert "  graphlet       q1, q2; one operator each\n" in said.text()


def test_a_run_of_one_query_is_told_of_as_one():
    sliding = "WITHIN 1 min SLIDE 10 s"
    (alone,) = explain(workload("A+", clauses=sliding)).operators
    assert alone.why_windows == "how its windows are kept is decided pane by pane"
    (both,) = explain(workload("SEQ(A, B+)", "SEQ(C, B+)", clauses=sliding)).operators
    assert both.why_windows == "how their windows are kept is decided pane by pane"
    (apart,) = explain(workload("A+")).operators
    assert apart.why_windows == "its windows do not overlap"
    assert "  graphlet       q1\n" in explain(workload("A+")).text()


def test_reasons_name_types_and_not_what_planners_call_them():
    """Planners tell types apart by the conditions on them, with a number."""
    text = "RETURN COUNT(*) PATTERN SEQ(A a, (SEQ(B b, C))+) WHERE b.x = 1 AND a.y < 3 WITHIN 1 s "
    said = explain(parse(text + text), planner="gloria")
    whole = "all of SEQ(B, C)+ costs "
    assert [each.why.partition(whole)[1] for each in said.plan.transitions] == ["", whole, whole]
    assert "#" not in said.text()


def test_queries_without_a_kleene_part_share_the_pass():
    queries = workload("SEQ(A, B)", "SEQ(C, D)", "(SEQ(E, F))+")
    assert all(query.alone is None for query in explain(queries).queries)
    assert "the pass over the events with q2, q3" in explain(queries).text()


ADJACENT = "an adjacent condition"
OPERATORS = [
    ("A+", "", "graphlet", ()),
    ("A+", "SEMANTICS contiguous", "next_match", ("contiguous",)),
    ("SEQ(A, NOT B, C)", "", "general", ("NOT",)),
    ("A+ & SEQ(A, B)", "", "general", ("pairs of trends (&)",)),
    ("A+", "WHERE LENGTH >= 3", "general", ("LENGTH",)),
    ("A a+", "WHERE a.x < NEXT(a).x", "range_index", ("an adjacent condition",)),
    ("A a+", "WHERE a.x + NEXT(a).x > 1", "general", ("an adjacent condition",)),
    ("A a+", "WHERE a.x < NEXT(a).x AND a.y < NEXT(a).y", "general", (ADJACENT,)),
]


@pytest.mark.parametrize(("pattern", "clause", "operator", "obstacles"), OPERATORS)
def test_which_operator_and_why(
    pattern: str, clause: str, operator: str, obstacles: tuple[str, ...]
):
    (plan,) = explain(workload(pattern, clauses=f"{clause} WITHIN 1 min")).queries
    assert plan.operator == operator
    assert (plan.rejected[0].obstacles if plan.rejected else ()) == obstacles
    answered = {"range_index": "O(log n)", "general": "scan"}.get(operator, "")
    assert all(answered in line for line in plan.adjacent_evaluation)


def test_windows_of_events_share_among_themselves():
    counted = [f"QUERY c{n} RETURN COUNT(*) PATTERN A+ WITHIN {n} events" for n in (3, 5)]
    timed = "QUERY t RETURN COUNT(*) PATTERN A+ WITHIN 5 s"
    explained = explain(parse("\n".join([*counted, timed])))
    assert [plan.operator for plan in explained.queries] == ["graphlet"] * 3
    assert [each.queries for each in explained.operators] == [("c3", "c5"), ("t",)]


def test_only_queries_that_are_evaluated_alike_share():
    """A NOT sets the second query apart, although it has B+ too."""
    found = explain(workload("SEQ(A, B+)", "SEQ(C, B+, NOT D, E)", "SEQ(C, B+)"))
    assert [each.queries for each in found.operators] == [("q1", "q3"), ("q2",)]
    assert found.queries[1].alone == "the general operator evaluates one query at a time"
    assert "q2 has B+ too, but with NOT" in (
        explain(workload("SEQ(A, B+)", "SEQ(B+, NOT D, E)")).queries[0].alone or ""
    )
    shared = {(s.source, s.target): s.shared for s in found.template.steps if s.shared}
    assert shared == {("B", "B"): ("q1", "q3")}


def test_who_shares_is_not_alone():
    plans = explain(parse(TWO)).queries
    assert [plan.alone for plan in plans] == [None, None]


# ---- the merged template -------------------------------------------------------------------


def test_a_shared_kleene_part_of_two_types_is_shared_on_every_step():
    found = explain(workload("SEQ(A, SEQ(P, T)+)", "SEQ(C, SEQ(P, T)+, B)", "SEQ(A, P+)"))
    shared = {(s.source, s.target): s.shared for s in found.template.steps if s.shared}
    assert shared == {("P", "T"): ("q1", "q2"), ("T", "P"): ("q1", "q2")}
    alone = {(s.source, s.target): s.kleene for s in found.template.steps if not s.shared}
    assert alone[("P", "P")] == ("q3",)


def test_repetitions_are_told_from_steps_ahead():
    steps = explain(workload("SEQ(SEQ(A+, B)+, C)+")).template.steps
    back = {(s.source, s.target) for s in steps if s.repeats}
    assert back == {("A", "A"), ("B", "A"), ("C", "A")}


def test_negations_say_where_they_hold():
    (plan,) = explain(workload("SEQ(NOT X, A, NOT SEQ(X, NOT Z, Y), B, NOT Y)")).queries
    gaps = {n.pattern: [(g.after, g.before) for g in n.gaps] for n in plan.negations}
    assert gaps == {
        "X": [(None, "A")],
        "SEQ(X, NOT Z, Y)": [("A", "B")],
        "Z": [("X", "Y")],
        "Y": [("B", None)],
    }
    assert [n.pattern for n in plan.negations if n.nested] == ["Z"]


# ---- JSON ----------------------------------------------------------------------------------


def test_json_has_stable_keys():
    found = json.loads(explain(parse(TWO)).json())
    assert list(found) == [
        "ties",
        "assumed_types",
        "queries",
        "routing",
        "operators",
        "plan",
        "template",
        "input",
    ]
    assert found["operators"] == [
        {
            "operator": "graphlet",
            "queries": ["q1", "q2"],
            "summary": "burst by burst, shared if that pays",
            "cost": ["O(1) per event, O(open windows) per burst"],
            "state_words": 4,
            "state_per": "partition",
            "partition_by": [],
            "semantics": "skip-till-any-match",
            "pane": 60_000_000,
            "pane_text": "1 minute",
            "counted": False,
            "windows": "auto",
            "why_windows": "their windows do not overlap",
            "aggregates": ["COUNT(*)"],
            "predicates": [],
            "kleene": [{"pattern": "B+", "queries": ["q1", "q2"]}],
            "shared_parts": [],
            "reason": "",
        }
    ]
    assert found["queries"][0]["predecessors"] == [{"type": "B", "before": ["A", "B"]}]
    assert found["template"]["types"][1] == {
        "type": "B",
        "starts": [],
        "ends": ["q1", "q2"],
        "negated": [],
        "positive": True,
    }


# ---- DOT -----------------------------------------------------------------------------------


def test_dot_has_every_type_and_step():
    dot = explain(parse(TWO)).dot()
    assert dot.startswith("digraph template {")
    assert dot.rstrip().endswith("}")
    assert dot.count("{") == dot.count("}") == 2
    assert '[shape=note, label="graphlet: q1, q2"]' in dot
    assert '"B" [peripheries=2];' in dot
    assert '"A" -> "B" [label="q1"];' in dot
    assert re.search(r'"B" -> "B" \[label="q1, q2", color=.*penwidth', dot)


def test_dot_escapes_names():
    dot = explain(parse('RETURN COUNT(*) PATTERN "a ""b"" \\" WITHIN 1 s')).dot()
    assert '"a \\"b\\" \\\\"' in dot


# ---- the picture ---------------------------------------------------------------------------

PATTERNS = {
    "shared": ("SEQ(A, B+)", "SEQ(C, B+)"),
    "nested": ("SEQ(SEQ(A+, B)+, C)+", "SEQ(D, SEQ(A+, B)+)"),
    "not": ("SEQ(R, T+, NOT C, D)", "SEQ(NOT Y, R, T+)", "SEQ(R, D, NOT SEQ(X, Y+))"),
    "not of its own type": ("SEQ(A, NOT A, B)", "SEQ(B, NOT B, A)+"),
    "two sides": ("A+ & SEQ(A, B)",),
    "one event": ("A",),
}


@pytest.mark.parametrize("patterns", PATTERNS.values(), ids=PATTERNS)
def test_picture_is_xml_with_every_type_once(patterns: tuple[str, ...]):
    queries = workload(*patterns)
    drawn = texts(explain(queries).svg(), "name")
    assert sorted(drawn) == sorted({p.type for q in queries for p in q.template.positions})


def test_picture_shortens_long_lists():
    svg = explain(workload(*["SEQ(A, B+)"] * 50)).svg()
    assert texts(svg, "label") == ["q1, q2 +48", "q1, q2 +48"]
    assert "B: q1, q2, q3, q4" in svg  # the whole list is shown under the mouse


def test_picture_lists_the_operators():
    queries = workload("SEQ(A, B+)", "SEQ(C, B+)", "SEQ(A, NOT C, B)")
    drawn = texts(explain(queries).svg(), "key")
    assert drawn[-2:] == ["graphlet: q1, q2", "general: q3"]


def test_picture_escapes_text():
    svg = explain(parse('RETURN COUNT(*) PATTERN "<&>\x01" WITHIN 1 s')).svg()
    assert texts(svg, "name") == ["<&>\ufffd"]


def test_end_is_a_double_rectangle_and_not_is_dashed():
    root = ET.fromstring(explain(workload("SEQ(A, NOT X, B)")).svg())
    looks = [node.get("class") for node in root.iter(f"{SVG}rect")]
    assert looks.count("absent") == 1
    assert looks.count("inner") == 2  # that of B and the one in the legend


def test_types_stand_from_left_to_right():
    svg = explain(workload("SEQ(A, SEQ(B, C)+, D)")).svg()
    names = [n for n in ET.fromstring(svg).iter(f"{SVG}text") if n.get("class") == "name"]
    ordered = sorted(names, key=lambda node: float(node.get("x") or 0))
    assert [node.text for node in ordered] == ["A", "B", "C", "D"]


def test_boxes_and_labels_do_not_overlap():
    rng = random.Random(4)
    types = [f"Type{n}" for n in range(20)]
    patterns = [f"SEQ({', '.join(rng.sample(types, 4))}, Hub+)" for _ in range(50)]
    root = ET.fromstring(explain(workload(*patterns)).svg())
    boxes = [
        tuple(float(node.get(key) or 0) for key in ("x", "y", "width", "height"))
        for node in root.iter(f"{SVG}rect")
        if node.get("class") == "box"
    ]
    labels = [
        (float(node.get("x") or 0) - 10, float(node.get("y") or 0) - 9, 20.0, 9.0)
        for node in root.iter(f"{SVG}text")
        if node.get("class") == "label"
    ]
    assert len(labels) > 100
    everything = boxes[:21] + labels
    for place, one in enumerate(everything):
        assert not any(overlap(one, other) for other in everything[:place])


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return all(
        one[axis] < other[axis] + other[axis + 2] and other[axis] < one[axis] + one[axis + 2]
        for axis in (0, 1)
    )


def test_the_plan_of_the_input_is_the_last_section():
    section = InputSection("rides.csv", "== Physical Plan ==\n+- Scan text")
    lines = replace(explain(parse(TWO)), input=section).text().splitlines()
    assert lines[-3:] == [
        "SPARK'S PLAN OF THE INPUT rides.csv",
        "  == Physical Plan ==",
        "  +- Scan text",
    ]
    assert "SPARK" not in explain(parse(TWO)).text()
