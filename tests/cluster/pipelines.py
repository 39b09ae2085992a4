"""A pipeline that reads some columns of a source, for tests of sources without a job."""

from runtime.pipeline.routing_table import InputFormat, RoutingTable
from runtime.types.attribute_kinds import AttributeKind
from spark_ingest.pipeline.event_pipeline import EventPipeline


def reading(source, columns, unit: str = "s") -> EventPipeline:
    """All of the columns are attributes, also the time and the type."""
    needs = source._needs
    input_format = InputFormat(needs.time_column, needs.type_column, unit, source.schema)
    uses = {name: needs.use(name) or AttributeKind.ANY for name in columns}
    return EventPipeline(RoutingTable(0, input_format, uses, (), {}, frozenset(), 1, 1))
