"""The event contract as Spark columns: parse, check, event time, late, partition, window.

Each step is a function from DataFrame to DataFrame, made of Spark's own expressions. They are
written as SQL text: one call into Java makes a column, however long its expression is.
"""
