"""The share groups of a workload under a sharing plan."""

from __future__ import annotations

from collections.abc import Iterable

from runtime.language.query import Query
from runtime.plan.sharing_plan import SharingPlan
from runtime.template.query_groups import share_groups


def planned_groups(queries: Iterable[Query], plan: SharingPlan) -> list[tuple[Query, ...]]:
    """As `share_groups`, with the groups of a plan, and those joined that share by it."""
    by_name = {query.name: query for query in queries}
    named = [[by_name[name] for name in group if name in by_name] for group in plan.groups]
    grouped = {query.name for group in named for query in group}
    free = [query for name, query in by_name.items() if name not in grouped]
    groups = [*named, *(list(group.queries) for group in share_groups(free))]
    return [tuple(group) for group in _joined(groups, plan) if group]


def _joined(groups: list[list[Query]], plan: SharingPlan) -> list[list[Query]]:
    """Those with queries of one part or transition become one, in the place of the last."""
    place = {query.name: n for n, group in enumerate(groups) for query in group}
    found = dict(enumerate(groups))
    for sharing in plan.sharing:
        at = sorted({place[name] for name in sharing.queries if name in place})
        if len(at) > 1:
            found[at[-1]] = [query for n in at for query in found.pop(n)]
            place |= {query.name: at[-1] for query in found[at[-1]]}
    return list(found.values())
