"""Shared by the Kafka source and the Kafka sink: addresses, options, metadata, transactions.

librdkafka (confluent-kafka) looks up offsets and sends results: it needs no JVM and supports
transactions. Spark reads the records.
"""
