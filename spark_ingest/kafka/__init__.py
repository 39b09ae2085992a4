"""What the Kafka source and the Kafka sink share: addresses, options, lookups, transactions.

Offsets are looked up and results are sent by librdkafka (confluent-kafka), which needs no JVM and
has transactions; records are read by Spark.
"""
