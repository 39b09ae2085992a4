"""The range-index operator: conditions that compare adjacent events."""
