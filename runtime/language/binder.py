"""Binds parsed queries: resolves names, checks them and reports every error."""

from __future__ import annotations

from runtime.errors import QueryError, did_you_mean
from runtime.language import ast as s
from runtime.language.ambiguity import Bindings
from runtime.language.automaton import compile_pattern
from runtime.language.condition_ir import lower
from runtime.language.conditions import Conditions, classify
from runtime.language.error_collector import ErrorCollector
from runtime.language.expressions import SPOKEN
from runtime.language.pattern_check import (
    check_aliases,
    check_empty,
    check_negations,
    check_size,
    check_states,
)
from runtime.language.query import Mention, Query, Semantics
from runtime.language.scope import Scope
from runtime.language.select_binder import resolve_outputs
from runtime.language.splitter import SourceText
from runtime.language.window import Window
from runtime.language.window_binder import resolve_window
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.side_tables import DEAD_LETTER, LATE

# The results of a query are written under its name.
NO_FILE_NAME = '/\\:*?"<>|'
KEPT_NAMES = (LATE, DEAD_LETTER)


def resolve(
    source: SourceText, written: list[s.QueryText | None], errors: list[QueryError]
) -> list[Query]:
    """The checked queries. A query with errors is left out, and its errors are reported."""
    report = ErrorCollector(source, errors)
    resolved = []
    names: dict[str, s.Span] = {}
    mentions: list[Mention] = []
    for number, text in enumerate(written, start=1):
        if text is None:
            continue
        name = _name(text, number, names, report)
        query = _query(name, text, report, mentions)
        if query is not None:
            resolved.append(query)
    _check_kinds(mentions, report)
    return resolved


def _name(text: s.QueryText, number: int, names: dict[str, s.Span], report: ErrorCollector) -> str:
    name = text.name.text if text.name is not None else f"q{number}"
    span = text.name.span if text.name is not None else text.span
    if name in names:
        line = report.line(names[name])
        hint = "queries without a name are called q1, q2, ... by their place in the file"
        message = f"a query called `{name}` already exists at line {line}"
        report(message, span, None if text.name is not None else hint)
    if not name.isprintable() or set(name) & set(NO_FILE_NAME) or name.startswith("."):
        message = f"results are written under the query's name, and `{name}` is not a file name"
        report(message, span)
    if name in KEPT_NAMES:
        report(f"`{name}` is a reserved name: it is the folder of late rows or dead letters", span)
    names.setdefault(name, span)
    return name


def _query(
    name: str, text: s.QueryText, report: ErrorCollector, mentions: list[Mention]
) -> Query | None:
    errors_before = len(report.errors)
    semantics = _semantics(text.semantics, report)
    window = resolve_window(text.within, text.slide, report)
    if not check_size(text.pattern, report):
        return None
    template = compile_pattern(text.pattern)
    check_negations(text.pattern, report)
    check_empty(text.pattern, template, report)
    check_aliases(template, report)
    at_names = Scope(template, report)
    conditions = classify(text.where, template, at_names, report)
    bindings = Bindings(template, tuple(conditions.local))
    together = semantics is Semantics.NEXT or isinstance(text.pattern, s.Both)
    if together or bindings.ambiguous is not None:
        check_states(text.pattern, template, report)
    outputs = resolve_outputs(text, at_names, report, bindings.difference)
    keys = _keys(text, conditions, window, at_names, report)
    own = (*keys, *conditions.mentions, *outputs.mentions)
    mentions += own
    if len(report.errors) > errors_before or semantics is None or window is None:
        return None
    return Query(
        name=name,
        pattern=text.pattern,
        template=template,
        semantics=semantics,
        equivalence=tuple(dict.fromkeys(c.name for c in conditions.equivalence)),
        group_by=tuple(column.name for column in text.group_by),
        local=tuple(conditions.local),
        adjacent=tuple(conditions.adjacent),
        least_length=conditions.least_length,
        lanes=tuple(outputs.lanes),
        measures=tuple(outputs.measures),
        columns=tuple(outputs.columns),
        having=None if text.having is None else lower(text.having),
        window=window,
        mentions=own,
        text=text,
        source=report.source,
    )


def _semantics(word: s.Word | None, report: ErrorCollector) -> Semantics | None:
    if word is None:
        return Semantics.ANY
    for semantics in Semantics:
        if semantics.value == word.text:
            return semantics
    known = [semantics.value for semantics in Semantics]
    report(f"unknown semantics `{word.text}`", word.span, did_you_mean(word.text, known))
    return None


def _keys(
    text: s.QueryText,
    conditions: Conditions,
    window: Window | None,
    names: Scope,
    report: ErrorCollector,
) -> list[Mention]:
    """The partition attributes. Every event of the pattern must have them."""
    grouped = [column.name for column in text.group_by]
    for place, column in enumerate(text.group_by):
        if column.name in grouped[:place]:
            report(f"`{column.name}` appears twice in GROUP-BY", column.span)
    if window is not None and window.counted:
        for column in conditions.equivalence:
            if column.name not in grouped:
                message = (
                    f"a window of events counts within a partition, so `{column.name}` must be "
                    "in GROUP-BY too"
                )
                report(message, column.span, f"add GROUP-BY {column.name}")
    columns = (*conditions.equivalence, *text.group_by)
    return [Mention(c.name, names.all_types(), AttributeKind.ANY, c.span) for c in columns]


def _check_kinds(mentions: list[Mention], report: ErrorCollector) -> None:
    """An attribute is one column of the input, so it has one kind in the whole workload."""
    first: dict[str, Mention] = {}
    for mention in mentions:
        if mention.kind is AttributeKind.ANY:
            continue
        known = first.setdefault(mention.attribute, mention)
        if known.kind is not mention.kind:
            here, there = SPOKEN[mention.kind], SPOKEN[known.kind]
            line = report.line(known.span)
            message = f"`{mention.attribute}` is used as {here} here, as {there} at line {line}"
            report(message, mention.span)
