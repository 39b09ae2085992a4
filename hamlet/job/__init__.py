"""A job on Ray and Spark: Spark reads, routers route, aggregators compute, results leave once."""
