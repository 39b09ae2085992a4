"""The registry of operator implementations, one for each declaration in `plan/operators/`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runtime.execution.context import OperatorContext
from runtime.execution.operator import Operator
from runtime.execution.operators.general.operator import start_general
from runtime.execution.operators.graphlet.start import start_graphlet
from runtime.execution.operators.next_match.operator import start_next_match
from runtime.execution.operators.range_index.operator import start_range_index
from runtime.plan.operators.general import GENERAL
from runtime.plan.operators.graphlet.declaration import GRAPHLET
from runtime.plan.operators.next_match import NEXT_MATCH
from runtime.plan.operators.operator_node import OperatorNode
from runtime.plan.operators.range_index.declaration import RANGE_INDEX

IMPLEMENTATIONS: Mapping[str, Callable[[OperatorNode, OperatorContext], Operator]] = {
    GRAPHLET.name: start_graphlet,
    RANGE_INDEX.name: start_range_index,
    NEXT_MATCH.name: start_next_match,
    GENERAL.name: start_general,
}


def start_operator(node: OperatorNode, context: OperatorContext) -> Operator:
    return IMPLEMENTATIONS[node.operator](node, context)
