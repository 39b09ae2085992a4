"""The range-index operator: evaluates conditions that compare adjacent events."""
