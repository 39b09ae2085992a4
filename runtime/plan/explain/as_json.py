"""An explanation for programs: the fields of its values are the keys."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime.plan.explain.explanation import Explanation


def as_json(explanation: Explanation) -> str:
    return json.dumps(asdict(explanation), indent=2, ensure_ascii=False)
