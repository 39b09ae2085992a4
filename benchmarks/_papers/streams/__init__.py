"""Streams and workloads modelled on those of the papers, one module per paper."""
