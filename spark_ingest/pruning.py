"""Chooses some partitions of a Spark RDD, so that a job computes only those."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark import SparkContext


def pruned(context: SparkContext, rdd: Any, partitions: Iterable[int]) -> Any:
    """The RDD of these partitions of a JVM's RDD, numbered from 0. They know their numbers in the
    whole, by which Spark numbers rows. What the RDD shuffles is shuffled once, however often it is
    pruned."""
    jvm: Any = context._jvm
    chosen = jvm.java.util.HashSet(list(partitions))
    # Spark sends the function to executors; an immutable set is one, and can be sent.
    contains = jvm.scala.collection.JavaConverters.asScalaSet(chosen).toSet()
    return jvm.org.apache.spark.rdd.PartitionPruningRDD.create(rdd, contains)
