"""An explanation of a workload that can print itself as text, JSON, DOT or SVG."""

from __future__ import annotations

from runtime.plan.explain.as_dot import as_dot
from runtime.plan.explain.as_json import as_json
from runtime.plan.explain.as_text import as_text
from runtime.plan.explain.drawing import as_svg
from runtime.plan.explain.explanation_sections import ExplanationSections


class Explanation(ExplanationSections):
    def text(self) -> str:
        """Lines of plain text, for a terminal or an e-mail."""
        return as_text(self)

    def json(self) -> str:
        return as_json(self)

    def dot(self) -> str:
        """The merged template for Graphviz."""
        return as_dot(self)

    def svg(self) -> str:
        """The merged template as a picture, drawn without Graphviz."""
        return as_svg(self)

    def __str__(self) -> str:
        return self.text()
