"""Random workloads, seeded."""

from random import Random

from runtime.plan.planners.gloria.patterns import Kleene, PatternPart, Sequence


def seq(*parts: PatternPart) -> Sequence:
    return Sequence(parts)


def plus(*parts: PatternPart) -> Kleene:
    return Kleene(Sequence(parts))


Workload = tuple[dict[str, PatternPart], dict[str, float]]


def small(seed: int, kleene: bool) -> Workload:
    """Three to five queries over few types, in one order, so that they have much in common. With
    loops at most four: all plans of five are many."""
    random = Random(seed)
    types = "ABCDEFG"
    loop = _loop(random, types) if kleene else None
    queries: dict[str, PatternPart] = {}
    for i in range(random.randint(3, 4 if kleene else 5)):
        queries[f"q{i}"] = _query(random, types, loop if random.random() < 0.8 else None)
    return queries, {type_: float(random.randint(1, 20)) for type_ in types}


def _loop(random: Random, types: str) -> tuple[int, int, Kleene]:
    """Where it is in the order of types, and the loop; half of those of three types are nested."""
    size = random.randint(1, 3)
    at = random.randint(0, 3)
    parts: tuple[PatternPart, ...] = tuple(types[at : at + size])
    if size == 3 and random.random() < 0.5:
        parts = (parts[0], Kleene(Sequence(parts[1:])))
    return at, size, Kleene(Sequence(parts))


def _query(random: Random, types: str, loop: tuple[int, int, Kleene] | None) -> PatternPart:
    """A few types of the beginning, then a run of the order, which may end early."""
    while True:
        skipped = random.randint(0, 3)
        parts: list[PatternPart] = []
        i = 0
        while i < len(types):
            if loop is not None and i == loop[0]:
                parts.append(loop[2])
                i += loop[1]
                continue
            if random.random() < (0.4 if i < skipped else 0.85):
                parts.append(types[i])
            i += 1
        parts = parts[: random.randint(3, 6)]
        if len(parts) > 1:
            return Sequence(tuple(parts))


def large(queries: int, seed: int, length: int = 10, types: int = 40, kleene: int = 0) -> Workload:
    """Queries whose types are drawn in one order. One in `kleene` has a nested loop of its own
    middle part, as in section 8 of the paper; 0: none."""
    random = Random(seed)
    names = [f"T{i}" for i in range(types)]
    loops = [Kleene(Sequence((a, Kleene(Sequence((b, c)))))) for a, b, c in _threes(names)]
    found: dict[str, PatternPart] = {}
    for i in range(queries):
        if kleene and i % kleene == 0:
            at = random.randrange(len(loops) // 4, len(loops) // 2)
            before = sorted(random.sample(range(3 * at), min(3, 3 * at)))
            after = sorted(random.sample(range(3 * at + 3, types), length - len(before) - 3))
            parts = (*(names[t] for t in before), loops[at], *(names[t] for t in after))
            found[f"q{i}"] = Sequence(parts)
        else:
            found[f"q{i}"] = Sequence(
                tuple(names[t] for t in sorted(random.sample(range(types), length)))
            )
    return found, {name: float(random.randint(1, 100)) for name in names}


def _threes(names: list[str]) -> list[tuple[str, str, str]]:
    return [(names[i], names[i + 1], names[i + 2]) for i in range(0, len(names) - 2, 3)]
