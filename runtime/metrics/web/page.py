"""Puts a page together: HTML with style and program inside, and what a browser may do with it.

The policy names both by their digests, so that nothing else runs, whatever a query is called.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
#: For answers that are not pages.
NOTHING = "default-src 'none'; frame-ancestors 'none'"


@dataclass(frozen=True)
class Page:
    text: str
    policy: str


@cache
def live_page() -> Page:
    return page("live.html", "live.js", asks=True)


def page(html: str, script: str, asks: bool = False) -> Page:
    """Of files beside this one. `asks`: the program asks where it came from."""
    style, program = read("style.css"), read(script)
    text = read(html).replace("/*style*/", style).replace("/*script*/", program)
    return Page(text, policy(style, program, asks))


def policy(style: str, program: str, asks: bool) -> str:
    parts = [
        "default-src 'none'",
        f"style-src '{_digest(style)}'",
        f"script-src '{_digest(program)}'",
        *(["connect-src 'self'"] if asks else []),
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    # A page cannot say of itself who may frame it: of one that is a file, nobody is asked.
    return "; ".join([*parts, "frame-ancestors 'none'"] if asks else parts)


def read(name: str) -> str:
    return (HERE / name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
