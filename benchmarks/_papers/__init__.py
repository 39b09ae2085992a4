"""The experiments of the papers: streams, workloads, and measurements over them."""
