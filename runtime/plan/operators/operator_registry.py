"""The registry of physical operators, in order of preference."""

from __future__ import annotations

from runtime.plan.operators.declaration import OperatorDeclaration
from runtime.plan.operators.general import GENERAL
from runtime.plan.operators.graphlet.declaration import GRAPHLET
from runtime.plan.operators.next_match import NEXT_MATCH
from runtime.plan.operators.range_index.declaration import RANGE_INDEX

#: The fastest first. The last one supports every query.
OPERATORS: tuple[OperatorDeclaration, ...] = (GRAPHLET, RANGE_INDEX, NEXT_MATCH, GENERAL)

BY_NAME = {operator.name: operator for operator in OPERATORS}
