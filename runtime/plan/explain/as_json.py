"""Prints an explanation as JSON, with the field names of its classes as keys."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime.plan.explain.explanation_sections import ExplanationSections


def as_json(explanation: ExplanationSections) -> str:
    return json.dumps(asdict(explanation), indent=2, ensure_ascii=False)
