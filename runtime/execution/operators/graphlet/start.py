"""Starts a graphlet operator with the engine's policy, or with one measured on this machine."""

from __future__ import annotations

from runtime.execution.context import OperatorContext
from runtime.execution.operators.graphlet.calibrate import calibrated
from runtime.execution.operators.graphlet.operator import GraphletOperator
from runtime.plan.operators.graphlet.group_split import ALWAYS
from runtime.plan.operators.graphlet.shared_subpattern import subpatterns_of
from runtime.plan.operators.operator_node import OperatorNode
from runtime.plan.policy import Policy


def start_graphlet(node: OperatorNode, context: OperatorContext) -> GraphletOperator:
    shared = context.executor
    since = tuple(ALWAYS if each is None else each for each in node.since)
    counted = node.queries[0].window.counted
    operator = GraphletOperator(
        node.queries,
        since,
        shared.codes,
        shared.options,
        shared.policy or (calibrated() if len(node.queries) > 1 else Policy()),
        subpatterns_of(node.shared_parts, node.queries),
        context.counter(since[0]) if counted else None,
    )
    operator.update(node)
    return operator
