"""Checks a workload against the columns of an input or a declared schema."""

from __future__ import annotations

from runtime.errors import QueryError, WorkloadError, did_you_mean
from runtime.language.comparison_check import comparison_errors
from runtime.language.expressions import SPOKEN, describe_type
from runtime.language.query import Mention, Query, Workload
from runtime.types.attribute_kinds import AttributeKind, fits
from runtime.types.schema import Schema


def check_schema(workload: Workload, schema: Schema) -> None:
    """Raises `WorkloadError` with every type and attribute that the input lacks, or has in another
    kind than the query needs."""
    errors = [error for query in workload for error in _errors(query, schema)]
    if errors:
        raise WorkloadError(errors)


def _errors(query: Query, schema: Schema) -> list[QueryError]:
    found = []
    types = schema.types()
    for position in query.template.positions:
        if types is not None and position.type not in types:
            message = f"the schema has no event type `{position.type}`"
            hint = did_you_mean(position.type, types)
            found.append(query.source.error(message, position.span, hint))
    for mention in query.mentions:
        error = _missing(mention, query, schema) or _unfit(mention, query, schema)
        if error is not None:
            found.append(error)
    return [*found, *comparison_errors(query, schema)]


def _missing(mention: Mention, query: Query, schema: Schema) -> QueryError | None:
    known = schema.types()
    if known is None:
        if mention.attribute in schema.attributes(None):
            return None
        message = f"the input has no attribute `{mention.attribute}`"
        hint = did_you_mean(mention.attribute, schema.attributes(None))
        return query.source.error(message, mention.span, hint)
    for type_ in sorted(mention.types & known):
        if mention.attribute not in schema.attributes(type_):
            message = f"`{type_}` has no attribute `{mention.attribute}`"
            hint = did_you_mean(mention.attribute, schema.attributes(type_))
            return query.source.error(message, mention.span, hint)
    return None


def _unfit(mention: Mention, query: Query, schema: Schema) -> QueryError | None:
    data_type = schema.data_type(mention.attribute)
    if data_type is None or fits(data_type, mention.kind):
        return None
    needed = "a single value" if mention.kind is AttributeKind.ANY else SPOKEN[mention.kind]
    message = f"`{mention.attribute}` is {describe_type(data_type)}, but {needed} is needed here"
    return query.source.error(message, mention.span)
