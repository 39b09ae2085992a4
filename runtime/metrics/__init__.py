"""Metrics of a job: declared once, collected epoch by epoch, served to Prometheus and to people.

A `MetricsCollector` adds up what each epoch reports into a `MetricsSnapshot`. Every
`MetricsListener` receives the newest snapshot; the `MetricsServer` shows it over HTTP. Counters are
totals, so a server that was restarted is complete again after the next snapshot.
`declarations.METRICS` lists every metric that Prometheus can scrape.
"""
