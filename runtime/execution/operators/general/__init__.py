"""The general operator: evaluates one query, whatever the language allows."""
