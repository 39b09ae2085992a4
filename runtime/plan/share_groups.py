"""The share groups of a workload under a sharing plan."""

from __future__ import annotations

from collections.abc import Iterable

from runtime.language.query import Query
from runtime.plan.sharing_plan import SharingPlan
from runtime.template.query_groups import share_groups


def planned_groups(queries: Iterable[Query], plan: SharingPlan) -> list[tuple[Query, ...]]:
    """Like `share_groups`, but with the plan's groups, and with groups joined if the plan lets
    their queries share."""
    by_name = {query.name: query for query in queries}
    named = [[by_name[name] for name in group if name in by_name] for group in plan.groups]
    grouped = {query.name for group in named for query in group}
    free = [query for name, query in by_name.items() if name not in grouped]
    groups = [*named, *(list(group.queries) for group in share_groups(free))]
    return [tuple(group) for group in _join_sharing(groups, plan) if group]


def _join_sharing(groups: list[list[Query]], plan: SharingPlan) -> list[list[Query]]:
    """Groups with queries of one shared part or transition become one, in the place of the last."""
    place = {query.name: n for n, group in enumerate(groups) for query in group}
    joined = dict(enumerate(groups))
    for sharing in plan.sharing:
        at = sorted({place[name] for name in sharing.queries if name in place})
        if len(at) > 1:
            joined[at[-1]] = [query for n in at for query in joined.pop(n)]
            place |= {query.name: at[-1] for query in joined[at[-1]]}
    return list(joined.values())
