"""Why a query shares nothing with any other."""

from __future__ import annotations

from collections.abc import Mapping

from runtime.language.query import Query, Workload
from runtime.plan.explain.phrases import joined, shortened
from runtime.plan.explain.ways import Chosen, Way
from runtime.template.query_groups import kleene_parts


def why_alone(query: Query, workload: Workload, chosen: Mapping[str, Chosen], planner: str) -> str:
    """What cannot be shared in the query itself; or the nearest miss: a query with a Kleene part
    in common, and what sets it apart; or the planner."""
    parts = kleene_parts(query.pattern)
    others = [other for other in workload if other.name != query.name]
    if not others:
        return "it is the only query"
    if planner == "none" and chosen[query.name].way is Way.BURSTS:
        return "the planner `none` evaluates every query by itself"
    if not parts:
        return "its pattern has no Kleene part"
    if chosen[query.name].way is Way.EVENTS:
        return "only bursts and what ordered indexes hold are shared"
    alike: dict[tuple[str, str], list[str]] = {}
    for other in others:
        if common := _common(parts, other):
            difference = _difference(query, other, chosen)
            alike.setdefault((joined(common), difference), []).append(other.name)
    if not alike:
        return f"no other query has {joined(parts)}"
    return "; ".join(
        f"{shortened(names)} {_has(names)} {common} too, but {difference}"
        for (common, difference), names in alike.items()
    )


def _common(parts: tuple[str, ...], other: Query) -> list[str]:
    theirs = kleene_parts(other.pattern)
    return [part for part in parts if part in theirs]


def _has(names: list[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _difference(query: Query, other: Query, chosen: Mapping[str, Chosen]) -> str:
    if query.partition_by != other.partition_by:
        if not other.partition_by:
            return "without partitions"
        return f"in partitions by {joined(other.partition_by)}"
    if query.semantics is not other.semantics:
        return f"with {other.semantics.value}"
    if query.window.kind != other.window.kind:
        return f"in windows of {other.window.kind}"
    mine, theirs = chosen[query.name].obstacles, chosen[other.name].obstacles
    if more := [each for each in theirs if each not in mine]:
        return f"under {joined(more)}"
    if less := [each for each in mine if each not in theirs]:
        return f"without {joined(less)}"
    return "the plan keeps them apart"
