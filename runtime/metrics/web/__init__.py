"""The live page of a job: HTML, style and script, served as one file."""
