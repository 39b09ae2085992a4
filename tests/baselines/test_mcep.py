"""What MCEP shares."""

from baselines.sequences import refusal
from benchmarks.baselines.elements import Element, elements
from benchmarks.baselines.mcep import Mcep
from benchmarks.baselines.mcep_plan import cores
from engine.judge import parsed


def test_refuses_optional_parts() -> None:
    assert "no optional parts" in refusal(Mcep(), "PATTERN SEQ(A, B*)")


def test_shares_a_repeated_type_before_longer_sequences() -> None:
    text = "".join(
        f"QUERY q{n} RETURN COUNT(*) PATTERN SEQ({pattern}) WITHIN 10 us\n"
        for n, pattern in enumerate(("A, B, C+, D", "A, B, E", "C+, D", "P, C+", "A, B, F", "G, H"))
    )
    found = cores({query.name: elements(query, "mcep") for query in parsed(text)})
    assert [(core.part, dict(core.places)) for core in found] == [
        ((Element("C", repeated=True),), {"q0": 2, "q2": 0, "q3": 1}),
        ((Element("A"), Element("B")), {"q1": 0, "q4": 0}),
        ((Element("G"), Element("H")), {"q5": 0}),
    ]
