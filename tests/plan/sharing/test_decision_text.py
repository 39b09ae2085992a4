"""The numbers of a decision in words add up to what the kernel decided by."""

from dataclasses import replace

import pyarrow as pa
import pytest

from hamlet import Engine, parse
from runtime.plan.decision_text import explain_decision
from runtime.plan.decisions import DecisionExample
from runtime.plan.policy import Policy

QUERIES = """
QUERY all RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE [d] WITHIN 100 seconds
QUERY same RETURN COUNT(*) PATTERN B+ WHERE [d] WITHIN 100 seconds
QUERY alike RETURN COUNT(*) PATTERN SEQ(B+, A) WHERE [d] WITHIN 100 seconds
QUERY low RETURN COUNT(*) PATTERN SEQ(A, B b+) WHERE [d] AND b.x < 4 WITHIN 100 seconds
QUERY high RETURN COUNT(*) PATTERN SEQ(A, B b+) WHERE [d] AND b.x > 6 WITHIN 100 seconds
"""
CHEAP = Policy(version=7, scan=50.0, operator=500.0)
DEAR = Policy(version=8, scan=0.01, operator=0.0, compare=5_000.0, apply=0.0)


def decided(policy: Policy, differ: bool) -> list[DecisionExample]:
    engine = Engine(parse(QUERIES), time_unit="s")
    engine.set_policy(policy)
    times, types, values = [], [], []
    for burst in range(200):
        for place in range(6):
            times.append(10 * burst + place)
            types.append("B" if place else "A")
            values.append(float(place * 2 if differ else 5))
    columns = {"time": times, "type": types, "x": values, "d": [1] * len(times)}
    engine.process(pa.table(columns))
    engine.finish()
    return [each for group in engine.decisions() for each in group.examples]


@pytest.mark.parametrize("policy", [CHEAP, DEAR], ids=["sharing pays", "splitting pays"])
@pytest.mark.parametrize("differ", [True, False], ids=["queries differ", "queries agree"])
def test_both_sides_differ_by_the_benefit(policy: Policy, differ: bool):
    examples = decided(policy, differ)
    assert examples
    for each in examples:
        found = explain_decision(each, [Policy(), policy])
        assert found.terms, each
        assert found.split - found.shared == pytest.approx(each.benefit, rel=1e-6, abs=1e-6)


def test_what_was_done_is_said_with_its_numbers():
    shared = [each for each in decided(CHEAP, True) if each.snapshots and each.kind != "split"][-1]
    said = " ".join(explain_decision(shared, [CHEAP]).sentences)
    assert f"A burst of {shared.events} events of type B, for 5 queries." in said
    assert f"Queries differed on {shared.snapshots} of them" in said
    assert "sharing was expected to save" in said
    assert f"and {shared.classes} found" in said
    assert "So it was shared" in said

    split = [each for each in decided(DEAR, True) if each.kind == "split"][-1]
    said = " ".join(explain_decision(split, [DEAR]).sentences)
    assert "more. So it was split: every query was evaluated separately." in said


def test_terms_of_another_policy_are_not_shown():
    """Numbers that do not lead to the decision would be made up."""
    (example, *_) = decided(CHEAP, True)
    assert explain_decision(example, []).terms == ()
    assert explain_decision(example, [replace(DEAR, version=CHEAP.version)]).terms == ()
    assert "By policy 7: sharing was expected to save" in " ".join(
        explain_decision(example, []).sentences
    )


def test_the_other_way_is_said_to_be_a_trial():
    example = DecisionExample("B", "split", 5, 5, 3, 3, 40.0, 2_049, 100, 7, 3, 2.0, 1)
    assert "as one burst in 4,096 is" in " ".join(explain_decision(example, []).sentences)
    example = replace(example, kind="merged", benefit=-40.0)
    assert "as one burst in 16 is" in " ".join(explain_decision(example, []).sentences)


def test_where_nobody_chose_nothing_was_weighed_up():
    example = DecisionExample("B", "shared", 5, 5, 3, 3, 0.0, 1, conditions=3)
    assert (
        "No costs were compared: shared, as requested." in explain_decision(example, []).sentences
    )
