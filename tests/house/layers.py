"""Maps a file to its layer, in today's layout and in the one before the layers."""

from __future__ import annotations

# From the bottom up, as in ARCHITECTURE.md.
LAYERS = (
    "runtime (base)",
    "types",
    "language",
    "template",
    "plan",
    "execution",
    "pipeline",
    "io",
    "optimizer",
    "metrics",
    "report",
    "generate",
    "actors",
    "spark_ingest",
    "hamlet",
)

# Where the files were before the layers. A file that went elsewhere than its folder comes first.
_FORMER = {
    "runtime/checkpoint.py": "pipeline",
    "runtime/engine.py": "pipeline",
    "runtime/partials.py": "execution",
    "runtime/results.py": "execution",
    "runtime/events/clock.py": "types",
    "runtime/events/columns.py": "types",
    "runtime/events/declared.py": "types",
    "runtime/events/kinds.py": "types",
    "runtime/events/peek.py": "types",
    "runtime/events/schema.py": "types",
    "runtime/events/text.py": "types",
    "runtime/planning/advisor.py": "optimizer",
    "runtime/planning/background.py": "optimizer",
    "runtime/planning/central.py": "optimizer",
    "runtime/planning/pricing.py": "optimizer",
    "runtime/planning/rates.py": "optimizer",
    "runtime/sharing/learning.py": "optimizer",
    "runtime/compiled/": "execution",
    "runtime/epochs/": "pipeline",
    "runtime/events/": "pipeline",
    "runtime/explain/": "plan",
    "runtime/files/": "io",
    "runtime/plain/": "execution",
    "runtime/planning/": "plan",
    "runtime/sharing/": "plan",
}


def layer_of(path: str) -> str:
    """The layer of a product file: its package, or its folder below `runtime`."""
    for former, layer in _FORMER.items():
        if path.startswith(former):
            return layer
    package, folder, *below = path.split("/")
    if package != "runtime":
        return package
    return folder if below else "runtime (base)"
