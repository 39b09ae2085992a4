"""RETURN and HAVING: which columns a result row has, and which lanes they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from runtime.errors import did_you_mean
from runtime.language import ast as s
from runtime.language.aggregates import AGGREGATES, AggregateFunction, Argument, LaneInput
from runtime.language.error_collector import ErrorCollector
from runtime.language.expressions import SPOKEN, KindChecker
from runtime.language.query import Lane, Measure, Mention, OutputColumn
from runtime.language.scope import Scope
from runtime.types.attribute_kinds import AttributeKind

RESERVED = ("window_start", "window_end")


@dataclass
class BoundOutputs:
    lanes: list[Lane] = field(default_factory=list)
    measures: list[Measure] = field(default_factory=list)
    columns: list[OutputColumn] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)


def resolve_outputs(
    text: s.QueryText,
    names: Scope,
    report: ErrorCollector,
    unique: Callable[[frozenset[int]], str | None],
) -> BoundOutputs:
    """`unique` tells why bindings of one trend can differ on some positions, or None."""
    outputs = _Outputs(text, names, report, unique)
    outputs.columns()
    outputs.having()
    return outputs.found


class _Outputs:
    def __init__(
        self,
        text: s.QueryText,
        names: Scope,
        report: ErrorCollector,
        unique: Callable[[frozenset[int]], str | None],
    ) -> None:
        self.found = BoundOutputs()
        self._text = text
        self._names = names
        self._report = report
        self._unique = unique
        self._conjunctive = isinstance(text.pattern, s.Both)
        self._groups = [column.name for column in text.group_by]
        self._measure_places: dict[str, int] = {}
        self._lane_places: dict[Lane, int] = {}

    def columns(self) -> None:
        renamed = {
            output.value.name: output.name
            for output in self._text.returns
            if isinstance(output.value, s.Column) and output.name
        }
        for group in dict.fromkeys(self._groups):
            self.found.columns.append(OutputColumn(renamed.get(group) or group, group=group))
        listed: set[str] = set()
        for output in self._text.returns:
            if isinstance(output.value, s.Aggregate):
                measure = self._measure(output.value)
                if measure is not None:
                    name = output.name or str(output.value)
                    self.found.columns.append(OutputColumn(name, measure=measure))
            elif output.value.name not in self._groups:
                self._not_grouped(output.value)
            elif output.value.name in listed:
                self._report(f"`{output.value.name}` appears twice in RETURN", output.value.span)
            else:
                listed.add(output.value.name)
        self._check_names()

    def having(self) -> None:
        if self._text.having is not None:
            KindChecker(self._report, self._having_leaf).condition(self._text.having)

    def _check_names(self) -> None:
        seen: set[str] = set()
        names = {column.name for column in self.found.columns}
        spans = {column.name: column.span for column in self._text.group_by}
        spans |= {_column_name(output): output.span for output in self._text.returns}
        for column in self.found.columns:
            if column.name in RESERVED:
                message = f"every result has a column `{column.name}` already"
                self._report(message, spans[column.name], "give it another name with AS")
            elif column.name in seen:
                message = f"two result columns are called `{column.name}`"
                self._report(message, spans[column.name], "rename one with AS")
            elif column.name.endswith("_log2") and column.name[:-5] in names:
                message = f"`{column.name}` is kept for the logarithm of a very large value"
                self._report(message, spans[column.name], "give it another name with AS")
            seen.add(column.name)

    def _not_grouped(self, column: s.Column) -> None:
        near = did_you_mean(column.name, self._groups) if self._groups else None
        message = f"`{column.name}` is not in GROUP-BY, so a result row has no one value of it"
        self._report(message, column.span, near or f"add GROUP-BY {column.name}")

    def _having_leaf(self, leaf: s.Expression, kind: AttributeKind) -> None:
        match leaf:
            case s.Aggregate():
                self._measure(leaf)
            case s.Column(name):
                self._having_column(leaf, kind)
            case s.Attribute(owner, name):
                hint = f"an aggregate, such as MIN({owner}.{name}), or a column of RETURN"
                self._report("HAVING sees result rows, not events", leaf.span, hint)

    def _having_column(self, leaf: s.Column, kind: AttributeKind) -> None:
        known = {column.name: column for column in self.found.columns}
        if leaf.name not in known:
            message = f"HAVING has no column `{leaf.name}`"
            self._report(message, leaf.span, did_you_mean(leaf.name, known))
        elif (group := known[leaf.name].group) is not None:
            types = self._names.all_types()
            self.found.mentions.append(Mention(group, types, kind, leaf.span))
        elif kind not in (AttributeKind.NUMBER, AttributeKind.ANY):
            message = f"`{leaf.name}` is a number, but is compared with {SPOKEN[kind]}"
            self._report(message, leaf.span)

    # ---- measures and their lanes ----------------------------------------------------------

    def _measure(self, aggregate: s.Aggregate) -> int | None:
        """The index of the aggregate among the measures; equal aggregates share one."""
        text = str(aggregate)
        if text not in self._measure_places:
            lanes = self._lanes(aggregate)
            if lanes is None:
                return None
            numbers = tuple(self._lane(lane) for lane in lanes)
            self._measure_places[text] = len(self.found.measures)
            function = AGGREGATES[aggregate.function]
            self.found.measures.append(Measure(function, text, numbers))
        return self._measure_places[text]

    def _lane(self, lane: Lane) -> int:
        if lane not in self._lane_places:
            self._lane_places[lane] = len(self.found.lanes)
            self.found.lanes.append(lane)
        return self._lane_places[lane]

    def _lanes(self, aggregate: s.Aggregate) -> list[Lane] | None:
        if not self._well_formed(aggregate):
            return None
        if aggregate.owner is None:
            return []
        positions = self._covered(aggregate)
        if positions is None:
            return None
        function = AGGREGATES[aggregate.function]
        self._mention(aggregate, function, positions)
        return [
            Lane(fold, positions, LaneInput(aggregate.attribute, power))
            for fold, power in function.lanes
        ]

    def _well_formed(self, aggregate: s.Aggregate) -> bool:
        if self._conjunctive and aggregate.owner is not None:
            message = "a pattern with `&` counts pairs of trends: it has COUNT(*) only"
            self._report(message, aggregate.span)
            return False
        name, argument = aggregate.function, AGGREGATES[aggregate.function].argument
        if argument is Argument.EVENTS and aggregate.attribute is not None:
            hint = f"{name}({aggregate.owner}) counts the events of all trends"
            self._report(f"{name} accepts * or an event, not an attribute", aggregate.span, hint)
            return False
        if argument is Argument.ATTRIBUTE and aggregate.attribute is None:
            hint = f"write {name}({self._owned(aggregate.owner)})"
            self._report(f"{name} needs an attribute", aggregate.span, hint)
            return False
        return True

    def _owned(self, name: str | None) -> str:
        """What a single name in an aggregate probably means: the event, or the attribute."""
        return f"E.{name}" if name and not self._names.knows(name) else f"{name or 'E'}.attribute"

    def _covered(self, aggregate: s.Aggregate) -> frozenset[int] | None:
        assert aggregate.owner is not None
        named = self._names.look_up(aggregate.owner, aggregate.owner_span)
        if named is None:
            return None
        positions = self._names.positive(named)
        if not positions:
            message = f"`{aggregate.owner}` is only under NOT, so no trend contains it"
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

    def _mention(
        self, aggregate: s.Aggregate, function: AggregateFunction, positions: frozenset[int]
    ) -> None:
        if aggregate.attribute is None:
            return
        types = self._names.types(positions)
        mention = Mention(aggregate.attribute, types, function.kind, aggregate.attribute_span)
        self.found.mentions.append(mention)


def _column_name(output: s.ReturnItem) -> str:
    value = output.value
    return output.name or (value.name if isinstance(value, s.Column) else str(value))
