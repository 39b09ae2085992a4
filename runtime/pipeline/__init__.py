"""The stream in epochs: events routed to shards, shards that compute and can be restored, epochs
that are committed. All that actors do, without actors."""
