"""The graphlet operator: evaluates whole bursts of events, shared by the queries of a group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runtime.language.query import Query
from runtime.plan.operators.declaration import PlanContext, Types, unsigned_extremes
from runtime.plan.operators.graphlet import eligibility
from runtime.plan.operators.graphlet.group_split import crowded_types, split_to_fit
from runtime.plan.operators.graphlet.row_width import block_size, open_windows
from runtime.plan.operators.operator_node import OperatorNode
from runtime.plan.share_groups import planned_groups
from runtime.plan.sharing_plan import SharedPart, SharingPlan


class GraphletDeclaration:
    name = "graphlet"
    summary = "burst by burst, shared if that pays"
    adjacent: str | None = None
    shares = True
    movable = True

    def obstacles(self, query: Query, types: Types) -> Iterator[str]:
        yield from eligibility.obstacles(query)
        yield from unsigned_extremes(query, types)

    def cost(self, query: Query) -> str:
        return "O(1) per event, O(open windows) per burst"

    def state_words(self, query: Query) -> int:
        return open_windows(query) * block_size(query)

    def arrange(self, queries: Sequence[Query], context: PlanContext) -> Iterator[OperatorNode]:
        """The share groups under the sharing plan, cut to the capacity of one kernel. Queries
        with count windows are grouped by when they joined, so that a group counts together."""
        compatible: dict[tuple[bool, int | None], list[Query]] = {}
        for query in queries:
            counted = query.window.counted
            since = context.since.get(query.name) if counted else None
            compatible.setdefault((counted, since), []).append(query)
        for members in compatible.values():
            for group in planned_groups(members, context.sharing_plan):
                yield from self._nodes(group, context)

    def _nodes(self, group: tuple[Query, ...], context: PlanContext) -> Iterator[OperatorNode]:
        fits = list(split_to_fit(group, context.sharing))
        for queries in fits:
            names = {query.name for query in queries}
            never = context.sharing == "never"
            yield OperatorNode(
                self.name,
                queries,
                context.since_of(queries),
                () if never else _shared_parts(context.sharing_plan, names),
                context.sharing_plan.windows_of(query.name for query in queries),
                reason=_why_cut(group) if len(fits) > 1 else "",
            )


def _shared_parts(plan: SharingPlan, names: set[str]) -> tuple[SharedPart, ...]:
    return tuple(part for part in plan.shared if len(names.intersection(part.queries)) > 1)


def _why_cut(group: tuple[Query, ...]) -> str:
    types = " and ".join(crowded_types(group))
    return (
        f"cut from a share group of {len(group)} queries: they have more conditions on {types} "
        "than one kernel can tell apart"
    )


GRAPHLET = GraphletDeclaration()
