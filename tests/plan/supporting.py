"""Whether an operator supports a query."""

from runtime.language.query import Query
from runtime.plan.operators.declaration import OperatorDeclaration, Types


def supports(operator: OperatorDeclaration, query: Query, types: Types) -> bool:
    return next(operator.obstacles(query, types), None) is None
