"""The Spark layer: sources, export of Arrow blocks to the routers, and sinks.

Spark reads files and Kafka topics and keeps the rows of an epoch as Arrow blocks: typed columns, or
lines of text and raw values. Routers, in Python, fetch the blocks, parse and check their rows and
split them by shard. Sinks write results. Nothing here depends on a query's pattern.
"""
