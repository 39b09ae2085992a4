"""Random workloads with streams, small enough for the enumerator.

Draws only what the language accepts, by construction rather than by filtering. The one exception
are aggregates of aliases: the product refuses those whose binding is not unique, the enumerator
raises AmbiguousBinding where it meets two bindings.
"""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from oracle.choices import Size, Tape
from oracle.enumerator import partitions, windows
from oracle.model import And, Event, Leaf, Query, leaves, workload_text
from oracle.random_patterns import neighbours, outer_leaves
from oracle.random_queries import QUERY_BYTES, draw_queries


@dataclass(frozen=True)
class Case:
    queries: tuple[Query, ...]
    events: tuple[Event, ...]  # in order of arrival, not always of time
    ties: str  # "strict" or "arrival"
    columns: dict[str, str]  # the type of each attribute: int, double, string or bool

    @property
    def text(self) -> str:
        return workload_text(self.queries)


TYPES = (("A", "B"), ("A", "B", "C"), ("A", "B", "C"), ("A", "B", "C", "D"), ("A", "B", "2"))
SCALES = (1, 1, 1, 1_000, 1_000_000, 60_000_000)  # microseconds in a step of time
VALUES: dict[str, tuple[Any, ...]] = {
    "int": (1, 2, 0, 3, -1, -2, 1, 2, None),
    "double": (1.0, 0.5, 0.0, 2.0, -1.5, 2.5, 1.0, float("nan"), None),
    "string": ("a", "b", "c", "a", "b", "", None),
    "bool": (True, False, None),
}
KEYS: dict[str, tuple[Any, ...]] = {
    "int": (1, 1, 1, 1, 1, 2, 2, None),
    "double": (1.0, 1.0, 1.0, 2.5, 2.5, float("nan"), None),
    "string": ("p", "p", "p", "p", "q", "q", None),
}
HEAD_BYTES = 20
EVENT_BYTES = 10


def draw_columns(tape: Tape) -> dict[str, str]:
    return {
        "x": tape.one_of("int", "int", "double"),
        "y": tape.one_of("int", "double"),
        "s": "string",
        "f": "bool",
        "g": tape.one_of("int", "int", "int", "double"),
        "h": "string",
    }


def stream_length(tape: Tape, size: Size) -> int:
    """Seldom next to nothing, since most trends need a few events."""
    half = size.events // 2
    return tape.number(0, half) if tape.chance(12) else tape.number(half, size.events)


def draw_attributes(tape: Tape, columns: dict[str, str]) -> dict[str, Any]:
    return {
        name: tape.one_of(*(KEYS if name in "gh" else VALUES)[kind])
        for name, kind in columns.items()
    }


class TypeDraw:
    """Types at random, but most of them along one of the patterns, so that it has trends."""

    def __init__(self, queries: tuple[Query, ...], guide: Query) -> None:
        self.named = sorted({leaf.type for query in queries for leaf in leaves(query.pattern)})
        pattern = guide.pattern.left if isinstance(guide.pattern, And) else guide.pattern
        # Sorted, since a set has no order to repeat.
        self.pairs = sorted(neighbours(pattern), key=repr)
        self.starts = sorted(outer_leaves(pattern), key=repr)
        self.last: Leaf | None = None

    def next(self, tape: Tape) -> str:
        if tape.chance(30):
            return tape.one_of(*self.named * 3, "Z")  # Z is a type that no query names
        following = [right for left, right in self.pairs if left == self.last]
        self.last = tape.one_of(*(following or self.starts))
        return self.last.type


def draw_events(
    tapes: list[Tape], types: TypeDraw, columns: dict[str, str], start: int, scale: int
) -> list[Event]:
    time = start
    events = []
    for tape in tapes:
        is_left_out = tape.number(0, 9) == 0  # what any event can shrink to
        time += tape.one_of(1, 1, 1, 1, 1, 0, 0, 2, 8)
        event = Event(time * scale, types.next(tape), draw_attributes(tape, columns))
        if not is_left_out:
            events.append(event)
    return events


def disordered(tape: Tape, events: list[Event]) -> list[Event]:
    """A bounded input is put in order as a whole, so it need not arrive in order."""
    match tape.one_of("in order", "in order", "in order", "reversed", "riffled"):
        case "reversed":
            return events[::-1]
        case "riffled":
            return events[1::2] + events[::2]
    return events


def thinned(events: tuple[Event, ...], queries: tuple[Query, ...], load: int) -> tuple[Event, ...]:
    """Without the events that would make a partition and window too full to enumerate."""
    for query in queries:
        for partition in partitions(query, events).values():
            for inside in windows(query.window, partition).values():
                if len(inside) > load:
                    kept = tuple(event for event in events if event is not inside[load // 2])
                    return thinned(kept, queries, load)
    return events


def make_case(data: bytes, size: Size) -> Case:
    tape = Tape(data)
    head = tape.piece(HEAD_BYTES)
    scale = head.one_of(*SCALES)
    query_tapes = [tape.piece(QUERY_BYTES) for _ in range(size.queries)]
    drawn = draw_queries(query_tapes, head.one_of(*TYPES), scale, size)
    queries = tuple(query for query in drawn if head.number(0, 2)) or drawn[:1]
    columns = draw_columns(head)
    event_tapes = [tape.piece(EVENT_BYTES) for _ in range(stream_length(head, size))]
    types = TypeDraw(queries, guide=head.one_of(*queries))
    events = draw_events(event_tapes, types, columns, head.number(-9, 9), scale)
    arrived = thinned(tuple(disordered(head, events)), queries, size.load)
    return Case(queries, arrived, head.one_of("strict", "arrival"), columns)


def cases(size: Size = Size()) -> st.SearchStrategy[Case]:  # noqa: B008 (it is frozen)
    """A workload, a stream for it, and the setting of ties."""
    length = HEAD_BYTES + QUERY_BYTES * size.queries + EVENT_BYTES * size.events
    rows_of_bytes = st.binary(min_size=length, max_size=length)
    return rows_of_bytes.map(lambda data: make_case(data, size))
