"""Random share groups: queries around one Kleene part, with streams that come in bursts.

Too long for the enumerator: the exact engine judges these, after the enumerator has judged that.
"""

from dataclasses import replace

from hypothesis import strategies as st

from oracle.choices import Tape
from oracle.model import (
    Aggregate,
    Attr,
    Compare,
    Const,
    Event,
    Expression,
    GroupItem,
    Leaf,
    Opt,
    Or,
    Pattern,
    Plus,
    Query,
    Seq,
    Star,
    Window,
    leaves,
)
from oracle.random_cases import KEYS, VALUES, Case

MOST_QUERIES = 6
MOST_EVENTS = 40
HEAD_BYTES = 24
QUERY_BYTES = 32
EVENT_BYTES = 12
#: Windows that overlap, of sizes that share a pane and of sizes that hardly do.
WINDOWS = (
    *((60, 60), (120, 120), (60, 20), (40, 10), (30, 15), (20, 10), (40, 3)),
    *((12, 12), (12, 4), (6, 6), (8, 2), (9, 6), (15, 5), (7, 3)),
)
#: Windows of events: a group of equal time may reach over several of them.
COUNTED = ((12, 12), (12, 4), (5, 5), (7, 3), (6, 2), (3, 3), (1, 1), (4, 3), (20, 5))
KLEENE: tuple[Pattern, ...] = (
    Plus(Leaf("B")),
    Plus(Leaf("B")),
    Plus(Leaf("B")),
    Plus(Seq((Leaf("P"), Leaf("T")))),
    Plus(Seq((Leaf("P"), Plus(Leaf("T"))))),
    Plus(Or((Leaf("B"), Leaf("C")))),
)
ENDS = ("A", "D", "E")


def draw_pattern(tape: Tape, part: Pattern) -> Pattern:
    """Something before the Kleene part, something after it, or neither."""
    head = _edge(tape, ("A", "A", "D", ""))
    tail = _edge(tape, ("", "E", "D", "E"))
    middle: Pattern = part
    if (head or tail) and tape.chance(10) and isinstance(part, Plus):
        middle = Star(part.inner)
    fixed = any(isinstance(end, Leaf | Plus) for end in (*head, *tail))
    if isinstance(middle, Star) and not fixed:
        middle = part
    parts = (*head, middle, *tail)
    return Seq(parts) if len(parts) > 1 else parts[0]


def _edge(tape: Tape, types: tuple[str, ...]) -> tuple[Pattern, ...]:
    name = tape.one_of(*types)
    if not name:
        return ()
    leaf = Leaf(name)
    return (tape.one_of(leaf, leaf, leaf, Opt(leaf), Plus(leaf)),)


def draw_conditions(tape: Tape, pattern: Pattern) -> tuple[Expression, ...]:
    """On the repeated types mostly. There are few, so that they sometimes agree, and events
    have few values, so that two that differ often pick the same."""
    found = []
    for name in sorted({leaf.type for leaf in leaves(pattern)}):
        repeated = name in "BPTC"
        if tape.chance(45 if repeated else 10):
            attribute = tape.one_of("x", "x", "y")
            operator = tape.one_of(">", "<", ">=", "!=")
            bound = Const(tape.one_of(-3, 0, 1, 100))
            found.append(Compare(operator, Attr(name, attribute), bound))
    return tuple(found)


def draw_aggregates(tape: Tape, pattern: Pattern) -> tuple[Aggregate, ...]:
    names = sorted({leaf.type for leaf in leaves(pattern)})
    drawn = [Aggregate()]
    for _ in range(tape.number(0, 5)):
        function = tape.one_of("SUM", "COUNT", "MIN", "MAX", "AVG", "VARIANCE", "STDDEV")
        name = tape.one_of(*names)
        attribute = "" if function == "COUNT" else tape.one_of("x", "y")
        drawn.append(Aggregate(function, name, attribute))
    return tuple(dict.fromkeys(drawn))


def draw_query(tape: Tape, part: Pattern, frame: Query, counted: int) -> Query:
    """`counted`: the chance of a window of events, in percent."""
    pattern = draw_pattern(tape, part)
    of_events = tape.chance(counted)
    within, slide = tape.one_of(*(COUNTED if of_events else WINDOWS))
    groups = tuple(GroupItem(name) for name in frame.group_by)
    return replace(
        frame,
        pattern=pattern,
        returns=groups + draw_aggregates(tape, pattern),
        window=Window(within, slide, "events" if of_events else "time"),
        local=draw_conditions(tape, pattern),
    )


def draw_events(tape: Tape, pieces: list[Tape], types: list[str], columns: dict[str, str]):
    """In bursts: often the type of the event before, and sometimes at its time."""
    time = tape.number(-20, 20)
    last = types[0]
    calm, ties = tape.one_of(70, 40, 10, 90), tape.one_of(5, 30, 60, 0)
    jumps = tape.one_of(3, 0, 10)
    partitions = tape.one_of(1, 2, 3)
    for piece in pieces:
        if not piece.chance(calm):
            last = "Z" if piece.chance(4) else piece.one_of(*types)
        time += 0 if piece.chance(ties) else piece.one_of(1, 1, 1, 2)
        time += 30 if piece.chance(jumps) else 0
        attributes = {name: piece.one_of(*VALUES[kind]) for name, kind in columns.items()}
        keys = {"g": KEYS["int"][-piece.number(1, partitions)], "h": piece.one_of("p", "q")}
        yield Event(time, last, {**attributes, **keys})


def make_group(data: bytes) -> Case:
    tape = Tape(data)
    head = tape.piece(HEAD_BYTES)
    part = head.one_of(*KLEENE)
    equivalence = head.one_of((), (), ("g",), ("g", "h"))
    group_by = head.one_of((), (), ("g",), ("h",))
    frame = Query(part, group_by=group_by, equivalence=equivalence)
    count = head.number(2, MOST_QUERIES)
    tapes = [tape.piece(QUERY_BYTES) for _ in range(MOST_QUERIES)]
    # Such windows want every partition to be a group of its own.
    counted = head.one_of(0, 50, 100) if set(equivalence) <= set(group_by) else 0
    queries = [draw_query(each, part, frame, counted) for each in tapes[:count]]
    types = sorted({leaf.type for query in queries for leaf in leaves(query.pattern)})
    types += [leaf.type for leaf in leaves(part)] * 2
    columns = {"x": head.one_of("int", "double"), "y": head.one_of("double", "int")}
    pieces = [tape.piece(EVENT_BYTES) for _ in range(MOST_EVENTS)]
    length = head.number(1, 12) if head.chance(15) else head.number(12, MOST_EVENTS)
    events = tuple(draw_events(head, pieces[:length], types, columns))
    named = tuple(replace(query, name=f"q{n}") for n, query in enumerate(queries, 1))
    ties = head.one_of("strict", "strict", "arrival")
    return Case(named, events, ties, {**columns, "g": "int", "h": "string"})


def groups() -> st.SearchStrategy[Case]:
    length = HEAD_BYTES + QUERY_BYTES * MOST_QUERIES + EVENT_BYTES * MOST_EVENTS
    return st.binary(min_size=length, max_size=length).map(make_group)
