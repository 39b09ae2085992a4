"""Builds the live page: one HTML file with its style and script inside, and its security policy.

The policy names both by their digests, so that a browser runs nothing else, whatever a query is
called.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
#: The policy of responses that are not pages.
NO_CONTENT = "default-src 'none'; frame-ancestors 'none'"


@dataclass(frozen=True)
class WebPage:
    text: str
    policy: str


@cache
def live_page() -> WebPage:
    return page("live.html", "live.js", asks=True)


def page(html: str, script: str, asks: bool = False) -> WebPage:
    """Built from files in this folder. `asks`: the script may send requests to its server."""
    style, program = read("style.css"), read(script)
    text = read(html).replace("/*style*/", style).replace("/*script*/", program)
    return WebPage(text, policy(style, program, asks))


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
    # `frame-ancestors` only works as an HTTP header, not in a file.
    return "; ".join([*parts, "frame-ancestors 'none'"] if asks else parts)


def read(name: str) -> str:
    return (HERE / name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
