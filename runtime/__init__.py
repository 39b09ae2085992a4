"""The engine: language, template, events, executor. Arrow in, Arrow out; no Ray, no Spark."""
