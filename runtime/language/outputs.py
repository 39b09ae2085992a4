"""RETURN and HAVING: which columns a result row has, and which lanes they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from runtime.errors import did_you_mean
from runtime.events.kinds import Kind
from runtime.language import syntax as s
from runtime.language.expressions import KindChecker
from runtime.language.names import Names
from runtime.language.query import Fold, Lane, Measure, Mention, OutputColumn
from runtime.language.report import Report

RESERVED = ("window_start", "window_end")


@dataclass
class Outputs:
    lanes: list[Lane] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)
    columns: list[OutputColumn] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)


def resolve_outputs(
    text: s.QueryText,
    names: Names,
    report: Report,
    unique: Callable[[frozenset[int]], str | None],
) -> Outputs:
    """`unique` tells why bindings of one trend can differ on some positions, or None."""
    outputs = _Outputs(text, names, report, unique)
    outputs.columns()
    outputs.having()
    return outputs.found


class _Outputs:
    def __init__(
        self,
        text: s.QueryText,
        names: Names,
        report: Report,
        unique: Callable[[frozenset[int]], str | None],
    ) -> None:
        self.found = Outputs()
        self._text = text
        self._names = names
        self._report = report
        self._unique = unique
        self._conjunctive = isinstance(text.pattern, s.Both)
        self._groups = [column.name for column in text.group_by]

    def columns(self) -> None:
        renamed = {
            output.value.name: output.name
            for output in self._text.returns
            if isinstance(output.value, s.Column) and output.name
        }
        for group in dict.fromkeys(self._groups):
            self.found.columns.append(OutputColumn(renamed.get(group) or group, group=group))
        for output in self._text.returns:
            if isinstance(output.value, s.Aggregate):
                measure = self._measure(output.value)
                if measure is not None:
                    name = output.name or str(output.value)
                    self.found.columns.append(OutputColumn(name, measure=measure))
            elif output.value.name not in self._groups:
                self._not_grouped(output.value)
        self._check_names()

    def having(self) -> None:
        if self._text.having is not None:
            KindChecker(self._report, self._having_leaf).condition(self._text.having)

    def _check_names(self) -> None:
        seen: set[str] = set(RESERVED)
        spans = {o.name or str(o.value): o.span for o in self._text.returns}
        for column in self.found.columns:
            if column.name in seen:
                message = f"two result columns are called `{column.name}`"
                span = spans.get(column.name, self._text.span)
                self._report(message, span, "rename one with AS")
            seen.add(column.name)

    def _not_grouped(self, column: s.Column) -> None:
        near = did_you_mean(column.name, self._groups) if self._groups else None
        message = f"`{column.name}` is not in GROUP-BY, so a result row has no one value of it"
        self._report(message, column.span, near or f"add GROUP-BY {column.name}")

    def _having_leaf(self, leaf: s.Expression, kind: Kind) -> None:
        match leaf:
            case s.Aggregate():
                self._measure(leaf)
                if kind not in (Kind.NUMBER, Kind.ANY):
                    self._report(f"{leaf} is a number", leaf.span)
            case s.Column(name):
                known = [column.name for column in self.found.columns]
                if name not in known:
                    hint = did_you_mean(name, known)
                    self._report(f"a result row has no column `{name}`", leaf.span, hint)
            case s.Attribute(owner, name):
                hint = f"an aggregate, such as MIN({owner}.{name}), or a column of RETURN"
                self._report("HAVING looks at result rows, not at events", leaf.span, hint)

    # ---- measures and their lanes ----------------------------------------------------------

    def _measure(self, aggregate: s.Aggregate) -> int | None:
        """The place of the aggregate among the measures; equal ones are kept once."""
        text = str(aggregate)
        for place, measure in enumerate(self.found.measures):
            if measure.text == text:
                return place
        lanes = self._lanes(aggregate)
        if lanes is None:
            return None
        numbers = tuple(self._lane(lane) for lane in lanes)
        self.found.measures.append(Measure(aggregate.function, text, numbers))
        return len(self.found.measures) - 1

    def _lane(self, lane: Lane) -> int:
        if lane not in self.found.lanes:
            self.found.lanes.append(lane)
        return self.found.lanes.index(lane)

    def _lanes(self, aggregate: s.Aggregate) -> list[Lane] | None:
        if not self._well_formed(aggregate):
            return None
        if aggregate.owner is None:
            return []
        positions = self._covered(aggregate)
        if positions is None:
            return None
        attribute = aggregate.attribute
        if attribute is None:
            return [Lane(Fold.SUM, positions, ones=True)]
        self._mention(aggregate, attribute, positions)
        divisor = Lane(Fold.SUM, positions, attribute, ones=True)
        match aggregate.function:
            case "MIN":
                return [Lane(Fold.MIN, positions, attribute)]
            case "MAX":
                return [Lane(Fold.MAX, positions, attribute)]
            case _:
                # SUM needs the number of values too: the sum of nothing is null.
                return [Lane(Fold.SUM, positions, attribute), divisor]

    def _well_formed(self, aggregate: s.Aggregate) -> bool:
        if self._conjunctive and aggregate.owner is not None:
            message = "a pattern with `&` counts pairs of trends: it has COUNT(*) only"
            self._report(message, aggregate.span)
        elif aggregate.function == "COUNT" and aggregate.attribute is not None:
            hint = f"COUNT({aggregate.owner}) counts the events of all trends"
            self._report("COUNT takes * or an event, not an attribute", aggregate.span, hint)
        elif aggregate.function != "COUNT" and aggregate.attribute is None:
            owner = aggregate.owner or "E"
            hint = f"for example {aggregate.function}({owner}.price)"
            self._report(f"{aggregate.function} needs an attribute", aggregate.span, hint)
        else:
            return True
        return False

    def _covered(self, aggregate: s.Aggregate) -> frozenset[int] | None:
        assert aggregate.owner is not None
        named = self._names.look_up(aggregate.owner, aggregate.owner_span)
        if named is None:
            return None
        positions = self._names.positive(named)
        if not positions:
            message = f"`{aggregate.owner}` stands only under NOT, so no trend holds one"
            self._report(message, aggregate.owner_span)
            return None
        if not self._names.covers_its_type(positions):
            reason = self._unique(positions)
            if reason is not None:
                message = f"{aggregate} is not unique: {reason}"
                hint = "aggregate by type, or make the pattern tell the events apart"
                self._report(message, aggregate.owner_span, hint)
                return None
        return positions

    def _mention(self, aggregate: s.Aggregate, attribute: str, positions: frozenset[int]) -> None:
        types = self._names.types(positions)
        span = aggregate.attribute_span
        self.found.mentions.append(Mention(attribute, types, Kind.NUMBER, span))
