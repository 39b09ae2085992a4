"""The paper's traffic workload with the weights of its figure 4, and random workloads."""

from collections.abc import Mapping
from random import Random

from runtime.plan.planners.sharon.candidates import (
    Candidate,
    Pattern,
    Queries,
    candidates,
    sharable,
)
from runtime.plan.planners.sharon.conflicts import ConflictGraph, conflict_graph

TRAFFIC = {
    "q1": ("Oak", "Main", "State"),
    "q2": ("Oak", "Main", "West"),
    "q3": ("Linden", "Park", "Oak", "Main"),
    "q4": ("Park", "Oak", "Main", "West"),
    "q5": ("Main", "State"),
    "q6": ("East", "Elm", "Park"),
    "q7": ("Elm", "Park", "Green"),
}
TABLE = {
    "p1": Candidate(("Oak", "Main"), ("q1", "q2", "q3", "q4")),
    "p2": Candidate(("Park", "Oak"), ("q3", "q4")),
    "p3": Candidate(("Park", "Oak", "Main"), ("q3", "q4")),
    "p4": Candidate(("Main", "West"), ("q2", "q4")),
    "p5": Candidate(("Oak", "Main", "West"), ("q2", "q4")),
    "p6": Candidate(("Main", "State"), ("q1", "q5")),
    "p7": Candidate(("Elm", "Park"), ("q6", "q7")),
}
WEIGHTS = {"p1": 25, "p2": 9, "p3": 12, "p4": 15, "p5": 20, "p6": 8, "p7": 18}
NAMES = {candidate.pattern: name for name, candidate in TABLE.items()}


def figure_4(pattern: Pattern, queries: Queries) -> float:
    """The weights of the paper, which it only gives for all queries of a pattern."""
    candidate = TABLE[NAMES[pattern]]
    return WEIGHTS[NAMES[pattern]] if queries == candidate.queries else 0.0


def traffic_graph() -> ConflictGraph:
    covers = sharable(TRAFFIC)
    return conflict_graph(((each, figure_4(*each)) for each in candidates(covers)), covers)


def random_sequences(
    random: Random, queries: int, lengths: tuple[int, int], types: str
) -> dict[str, tuple[str, ...]]:
    """Types may come back in a sequence."""
    return {
        f"q{i}": tuple(random.choice(types) for _ in range(random.randint(*lengths)))
        for i in range(queries)
    }


def random_stretches(
    random: Random, queries: int, lengths: tuple[int, int], types: str
) -> dict[str, tuple[str, ...]]:
    """Stretches of one sequence, now and then with another type in them: they have much in
    common, in which types may come back."""
    way = [random.choice(types) for _ in range(lengths[1] + 2)]
    cut = {}
    for i in range(queries):
        length = random.randint(*lengths)
        start = random.randrange(len(way) - length + 1)
        sequence = way[start : start + length]
        if random.random() < 0.5:
            sequence[random.randrange(length)] = random.choice(types)
        cut[f"q{i}"] = tuple(sequence)
    return cut


def routes(random: Random, queries: int, routes: int = 4, length: int = 10) -> dict[str, list[str]]:
    """Queries that are stretches of a few long routes through 45 types, as in section VIII."""
    streets = [f"T{i}" for i in range(45)]
    ways = [random.sample(streets, 40) for _ in range(routes)]
    cut = {}
    for i in range(queries):
        way, start = random.choice(ways), random.randrange(40 - length + 1)
        cut[f"q{i}"] = way[start : start + length]
    return cut


def overlaps(chosen: tuple[Candidate, ...], queries: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Queries in which places of two chosen patterns meet; the naive way, place by place."""
    wrong = []
    for query, sequence in queries.items():
        covered: list[int] = []
        for pattern, sharing in chosen:
            if query in sharing:
                length = len(pattern)
                starts = range(len(sequence) - length + 1)
                at = [i for i in starts if tuple(sequence[i : i + length]) == pattern]
                covered += {i + j for i in at for j in range(length)}
        if len(covered) != len(set(covered)):
            wrong.append(query)
    return wrong
