"""The Ray layer: long-lived actors that put a thin envelope around `runtime`.

Aggregators own partitions of the stream and a merged template, the optimizer publishes sharing
policies, the metrics hub counts. Nothing here computes a trend.
"""
