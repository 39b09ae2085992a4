"""A browser for tests, and what a person sees in it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.chromium import Missing, chromium

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

#: Screenshots are taken into this folder where it is named, as those in `docs/images` are.
SCREENSHOTS = "HAMLET_SCREENSHOTS"

__all__ = ["Missing", "console", "opened", "screenshot", "seen", "until", "wide"]


def opened() -> Chrome:
    try:
        from selenium import webdriver
        from selenium.common import WebDriverException
        from selenium.webdriver.chrome.service import Service
    except ImportError as error:
        raise Missing("selenium is not installed") from error
    found = chromium()
    options = webdriver.ChromeOptions()
    options.binary_location = str(found.browser)
    for each in (
        "--headless=new",
        "--no-sandbox",  # root has none, and these pages are ours
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--hide-scrollbars",
        "--window-size=1200,1000",
    ):
        options.add_argument(each)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = Service(str(found.driver), env={**os.environ, **found.environment})
    try:
        return webdriver.Chrome(options=options, service=service)
    except WebDriverException as error:
        raise Missing(str(error.msg).splitlines()[0]) from error


def until(what: Callable[[], Any], seconds: float = 300.0) -> Any:
    """What it gives, as soon as it gives something."""
    deadline = time.monotonic() + seconds
    while True:
        found = what()
        if found or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def seen(browser: Chrome, selector: str) -> list[str]:
    """The texts of what is visible."""
    found: list[str] = browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])]"
        ".filter(each => each.checkVisibility()).map(each => each.innerText ?? each.textContent)",
        selector,
    )
    return found


def console(browser: Chrome) -> list[str]:
    """What went wrong in the page, such as a refusal by its policy."""
    return [each["message"] for each in browser.get_log("browser") if each["level"] == "SEVERE"]


def wide(browser: Chrome, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def screenshot(browser: Chrome, name: str, width: int = 1100, height: int = 1300) -> None:
    folder = os.environ.get(SCREENSHOTS)
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        wide(browser, width, height)
        time.sleep(0.3)
        browser.save_screenshot(f"{folder}/{name}.png")
