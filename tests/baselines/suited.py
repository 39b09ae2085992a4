"""Random cases that baselines take: each type once in a pattern, no NOT, no `&`, adjacent
conditions on two attributes, windows of time. All else is as in `oracle.random_cases`."""

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import strategies as st

from oracle.choices import Size, Tape
from oracle.model import (
    ANY,
    CONTIGUOUS,
    NEXT,
    Aggregate,
    And,
    Attr,
    Compare,
    Leaf,
    Not,
    Opt,
    Or,
    Pattern,
    Plus,
    Query,
    Seq,
    Star,
    Window,
)
from oracle.random_cases import (
    EVENT_BYTES,
    HEAD_BYTES,
    SCALES,
    Case,
    TypeDraw,
    disordered,
    draw_columns,
    draw_events,
    stream_length,
    thinned,
)
from oracle.random_patterns import may_be_empty, neighbours
from oracle.random_queries import COMPARISONS, QUERY_BYTES, draw_query, fill

TYPES = ("A", "B", "C", "D", "2")
LAST = Leaf("E")
SIZE = Size(queries=2)
CASE_BYTES = HEAD_BYTES + QUERY_BYTES * SIZE.queries + EVENT_BYTES * SIZE.events
ALL = (ANY, ANY, NEXT, CONTIGUOUS)


def suited_cases(
    semantics: tuple[str, ...] = ALL, adjacent: bool = True
) -> st.SearchStrategy[Case]:
    data = st.binary(min_size=CASE_BYTES, max_size=CASE_BYTES)
    return data.map(lambda each: _case(each, semantics, adjacent))


def _case(data: bytes, semantics: tuple[str, ...], adjacent: bool) -> Case:
    tape = Tape(data)
    head = tape.piece(HEAD_BYTES)
    scale = head.one_of(*SCALES)
    drawn = [
        replace(_query(tape.piece(QUERY_BYTES), scale, semantics, adjacent), name=f"query_{place}")
        for place in range(SIZE.queries)
    ]
    queries = tuple(drawn[: head.number(1, SIZE.queries)])
    columns = draw_columns(head)
    pieces = [tape.piece(EVENT_BYTES) for _ in range(stream_length(head, SIZE))]
    types = TypeDraw(queries, guide=head.one_of(*queries))
    events = draw_events(pieces, types, columns, head.number(-9, 9), scale)
    arrived = thinned(tuple(disordered(head, events)), queries, SIZE.load)
    return Case(queries, arrived, "strict", columns)


def _query(tape: Tape, scale: int, semantics: tuple[str, ...], adjacent: bool) -> Query:
    frame = draw_query(tape.piece(QUERY_BYTES // 2), TYPES, scale, SIZE)
    window = frame.window
    if window.unit == "events":
        slide = window.slide and window.slide * scale
        window = Window(window.within * scale, slide)
    pattern = once_each(frame.pattern)
    frame = replace(frame, pattern=pattern, window=window, semantics=tape.one_of(*semantics))
    conditions = _conditions(tape, pattern) if adjacent else ()
    query = replace(fill(tape, frame), adjacent=conditions, min_length=0, having=None)
    return without_spread(query)


def without_spread(query: Query) -> Query:
    """The query without VARIANCE and STDDEV, which no baseline computes."""
    kept = tuple(
        each
        for each in query.returns
        if not isinstance(each, Aggregate) or each.function not in ("VARIANCE", "STDDEV")
    )
    counted = () if any(isinstance(each, Aggregate) for each in kept) else (Aggregate(),)
    return replace(query, returns=(*kept, *counted))


def _conditions(tape: Tape, pattern: Pattern) -> tuple[Compare, ...]:
    pairs = sorted(neighbours(pattern), key=repr)
    found = []
    for _ in range(tape.one_of(0, 0, 1, 1, 2) if pairs else 0):
        before, after = tape.one_of(*pairs)
        left = Attr(before.type, tape.one_of("x", "x", "y", "g"))
        right = Attr(after.type, tape.one_of("x", "x", "y", "g"), next=True)
        sides = (right, left) if tape.chance(25) else (left, right)
        found.append(Compare(tape.one_of(*COMPARISONS), *sides))
    return tuple(found)


def once_each(pattern: Pattern) -> Pattern:
    """The pattern as far as a baseline knows it, with types in turn for its leaves."""
    found = _kept(pattern, iter(TYPES))
    if found is None:
        return LAST
    return Seq((found, LAST)) if may_be_empty(found) else found


def _kept(pattern: Pattern, types: Iterator[str]) -> Pattern | None:
    """None where nothing is left: all of it stands under NOT, or there are no more types."""
    match pattern:
        case Leaf():
            name = next(types, None)
            return None if name is None else Leaf(name)
        case Not():
            return None
        case And(left, _):
            return _kept(left, types)
        case Plus(inner) | Star(inner) | Opt(inner):
            kept = _kept(inner, types)
            return None if kept is None else type(pattern)(kept)
        case Seq(parts) | Or(parts):
            several = tuple(p for p in (_kept(part, types) for part in parts) if p is not None)
            return type(pattern)(several) if len(several) > 1 else next(iter(several), None)
