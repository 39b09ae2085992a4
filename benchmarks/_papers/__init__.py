"""The experiments of the papers: streams, workloads, and what is measured over them."""
