"""Streams and workloads after those of the papers, a module for each paper."""
