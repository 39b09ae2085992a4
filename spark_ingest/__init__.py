"""The Spark layer: sources, preparation of events, hand-over to the actors, sinks.

Spark parses and checks events, sets the watermark and marks slot and pane as columns. It then
hands Arrow blocks to the Ray object store. Nothing here knows a query's pattern.
"""
