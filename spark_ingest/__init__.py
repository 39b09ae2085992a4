"""The Spark layer: sources, the pipeline of transformations, export of Arrow blocks, and sinks.

Spark reads files and Kafka topics, parses and checks their rows, and computes the time, the shards
and the pane of each event, all in column expressions. It keeps the events of an epoch as Arrow
blocks, which routers slice by shard. Sinks write results. Nothing here depends on a pattern.
"""
