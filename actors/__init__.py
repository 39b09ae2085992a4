"""The Ray layer: actors that wrap the classes of `runtime`, and the cluster they run on.

Routers slice the blocks of Spark by shard, aggregators own shards and compute their queries, the
optimizer publishes sharing policies, and the metrics hub serves metrics.
"""
