"""Dashboards, and what Grafana and Prometheus need to show them."""
