"""The live page and a report in a real browser: what a person sees and can do."""

import io
import json
import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from rich.console import Console

from hamlet import parse
from hamlet.cli.top import render_screen
from metrics.example_job import HOSTILE, after_epoch, collector, replanned
from runtime.metrics.http_server import MetricsServer
from runtime.plan.explain.live import drawings
from tools.browser import SCREENSHOTS, console, screenshot, seen, until, wide
from tools.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
SHARING = ROOT / "examples" / "sharing" / "workload.sase"
QUERIES = ("one", "two", "three")
#: A run that is worth a picture takes a while.
PICTURES = os.environ.get(SCREENSHOTS)
EVENTS = 18_000_000 if PICTURES else 4_000_000
EXPLAINED = """
QUERY one RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 seconds
QUERY two RETURN COUNT(*) PATTERN SEQ(C, B+) WITHIN 10 seconds
QUERY three RETURN COUNT(*) PATTERN SEQ(B+, D) WITHIN 10 seconds
"""


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """The browser, wide and light; nothing may have gone wrong in its pages."""
    wide(browser, 1200, 1000)
    look(browser, "light")
    browser.get("about:blank")
    console(browser)
    yield browser
    browser.get("about:blank")


@pytest.fixture
def hub() -> Iterator[MetricsServer]:
    found = MetricsServer()
    yield found
    found.close()


def look(browser: Any, scheme: str) -> None:
    wanted = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})


def state(browser: Any) -> str:
    return seen(browser, "#state")[0]


def tiles(browser: Any, where: str) -> dict[str, str]:
    pairs = zip(seen(browser, f"{where} dt"), seen(browser, f"{where} dd"), strict=True)
    return dict(pairs)


def choose(browser: Any, selector: str, value: str) -> None:
    from selenium.webdriver.support.ui import Select

    Select(browser.find_element("css selector", selector)).select_by_visible_text(value)


def decisions(browser: Any) -> list[str]:
    return [" ".join(each.split()) for each in seen(browser, "#log li > button")]


# ---- a real run ----------------------------------------------------------------------------


def test_a_run_is_looked_at_and_its_report(page: Any, tmp_path: Path):
    results = tmp_path / "results"
    given = ["run", str(SHARING), "--input", f"generate:ridesharing?events={EVENTS}&seed=1"]
    given += ["--engine", "local", "--metrics-port", "0", "--output", str(results)]
    code = "from hamlet.cli import main; main()"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", code, *given], stderr=subprocess.PIPE, text=True, env=env
    ) as run:
        assert run.stderr is not None
        url = next(line for line in run.stderr if "live page" in line).split()[-1]
        page.get(url)
        assert until(lambda: state(page) == "running")
        assert until(lambda: len(decisions(page)) > 3)

        if PICTURES:
            until(lambda: False, 15)
        # The merged template, with what is shared lit.
        assert {"Travel", "Request", "Dropoff"} <= set(seen(page, "#template .name"))
        lit = "#template .arrow.lit[data-into=Travel]"
        assert until(lambda: page.find_elements("css selector", lit))
        assert not page.find_elements("css selector", "#template .lit[data-into=Dropoff]")
        assert re.search(r"Travel: [\d,]+ bursts, \d+% shared", seen(page, "#lit")[0])

        # A decision, and why.
        choose(page, "#f-kind", "continued")
        assert until(lambda: all("continued" in each for each in decisions(page)))
        first = page.find_element("css selector", "#log li:not([hidden]) > button")
        first.click()
        said = seen(page, "#log .why")[0]
        assert "of type Travel, for 6 queries." in said
        assert "So it was shared, as the burst before." in said
        assert re.search(r"Splitting was predicted to cost [\d.,]+ \S+, sharing [\d.,]+", said)
        assert re.search(r"scan events\s+[\d.]+ ns", said)
        page.execute_script("arguments[0].scrollIntoView(); window.scrollTo(0, 0)", first)
        screenshot(page, "live", height=1560)
        shown = draw_top(url, tmp_path)

        # Latency by query.
        page.find_element("css selector", "#f-query").send_keys("given")
        assert until(lambda: len(seen(page, "#queries tbody tr")) == 1)
        row = seen(page, "#queries tbody td")
        assert row[0] == "given_up"
        assert all(re.fullmatch(r"[\d.]+ (µs|ms|s)", row[place]) for place in (3, 4, 5)), row
        assert until(lambda: page.find_elements("css selector", "#queries .spark > *"))

        _, errors = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, errors
    # The job has ended: the page says so, and keeps what it knew.
    assert until(lambda: "no answer" in state(page))
    assert decisions(page)
    assert [each for each in console(page) if "net::ERR_CONNECTION" not in each] == []
    page.get("about:blank")
    console(page)
    look_at_report(page, results, tmp_path)
    page.get(shown.as_uri())
    screenshot(page, "top", 1100, 900)


def draw_top(url: str, folder: Path) -> Path:
    """What `hamlet top` has on a terminal, as a picture."""
    snapshot = json.load(urlopen(f"{url}/metrics.json"))
    console = Console(record=True, width=120, file=io.StringIO(), force_terminal=True)
    console.print(render_screen(deque([snapshot]), "", 44))
    path = folder / "top.svg"
    console.save_svg(str(path), title="hamlet top")
    text = path.read_text()
    assert "drives +5" in text.replace("\u00a0", " ").replace("&#160;", " ")
    path.write_text(re.sub(r"@font-face {.*?}", "", text, flags=re.DOTALL))  # fonts of elsewhere
    return path


def look_at_report(page: Any, results: Path, folder: Path) -> None:
    command = [sys.executable, "-c", "from hamlet.cli import main; main()", "report", str(results)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([*command, "-o", str(folder / "report.html")], check=True, env=env)
    page.get((folder / "report.html").as_uri())
    assert tiles(page, "#summary")["events"] == f"{EVENTS:,}"
    assert tiles(page, "#summary")["ended"] == "yes"
    screenshot(page, "report", height=1900)
    for place in ("decisions", "cost-model", "latency", "epochs"):
        page.find_element("css selector", f"nav a[href='#{place}']").click()
        assert page.current_url.endswith(f"#{place}")
        assert page.find_elements("css selector", f"#{place} svg.plot [class]"), place
    queries = [cells.split("\t")[0] for cells in seen(page, "#queries tbody tr")]
    assert sorted(queries) == sorted(query.name for query in parse(SHARING.read_text()))
    assert not seen(page, "#decision-log td")
    page.find_element("css selector", "#decision-log summary").click()
    assert "a burst of" in seen(page, "#decision-log td")[3]
    assert console(page) == []


# ---- what a hub may say --------------------------------------------------------------------


def test_a_job_starts_goes_away_and_comes_back(page: Any, hub: MetricsServer):
    page.get(hub.url)
    assert until(lambda: state(page) == "the job is starting")
    kept = collector(QUERIES)
    hub.update(after_epoch(kept, 0, QUERIES))
    assert until(lambda: state(page) == "running")
    assert tiles(page, "#tiles")["events"] == "1,000"

    hub.close()
    assert until(lambda: "no answer" in state(page))
    assert tiles(page, "#tiles")["events"] == "1,000"
    again = MetricsServer(hub.port)
    try:
        again.update(after_epoch(kept, 1, QUERIES))
        assert until(lambda: state(page) == "running")
        assert until(lambda: tiles(page, "#tiles")["events"] == "2,000")
        again.update(after_epoch(kept, 2, QUERIES, finished=True))
        assert until(lambda: state(page) == "finished")
    finally:
        again.close()


def test_badge_of_a_job_without_progress(page: Any, hub: MetricsServer):
    """It turns red while the snapshot stays the same."""
    kept = collector(QUERIES)
    kept.report_idle(in_flight=0, backlog=0)
    snapshot = after_epoch(kept, 0, QUERIES)
    now = snapshot.time
    quiet = replace(snapshot, time=now - 100, reported=now + 1000)
    hub.update(quiet)
    page.get(hub.url)
    assert until(lambda: state(page).startswith("running; no epoch for"))
    assert badge(page) == colour(page, "--good")

    for work in ({"in_flight": 1}, {"backlog": 7}):
        hub.update(replace(quiet, **work))
        assert until(lambda: re.match(r"stalled: no epoch for .*, although", state(page)))
        assert badge(page) == colour(page, "--bad")
        hub.update(replace(quiet, time=now, **work))
        assert until(lambda: state(page) == "running")

    # The driver hangs: nothing is updated any more.
    hub.update(replace(quiet, time=now, reported=now - 28))
    assert until(lambda: re.match("the driver has been silent for 3", state(page)))
    assert badge(page) == colour(page, "--bad")
    hub.update(replace(quiet, finished=True))
    assert until(lambda: state(page) == "finished")


def badge(browser: Any) -> str:
    shown = "return getComputedStyle(document.getElementById('state')).color"
    return str(browser.execute_script(shown))


def colour(browser: Any, name: str) -> str:
    """A colour of the page, as the browser computes it."""
    script = """
    const probe = document.createElement("i");
    probe.style.color = `var(${arguments[0]})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;"""
    return str(browser.execute_script(script, name))


def test_decisions_are_filtered_and_opened_by_keyboard(page: Any, hub: MetricsServer):
    from selenium.webdriver.common.keys import Keys

    kept = collector(QUERIES)
    kept.set_drawings(drawings(parse(EXPLAINED), None))
    hub.update(replanned(after_epoch(kept, 0, QUERIES), 1.0, "rates"))
    hub.update(replanned(after_epoch(kept, 1, QUERIES), 1.0, "rates"))
    page.get(hub.url)
    assert until(lambda: len(decisions(page)) == 4)
    assert [each.split()[1] for each in decisions(page)] == ["split", "shared"] * 2
    assert seen(page, "#shown") == ["4 of 4"]

    choose(page, "#f-kind", "split")
    assert [each.split()[1] for each in decisions(page)] == ["split"] * 2
    assert seen(page, "#shown") == ["2 of 4"]

    first = page.find_element("css selector", "#log li:not([hidden]) > button")
    page.execute_script("arguments[0].focus()", first)
    first.send_keys(Keys.ENTER)
    assert "So it was split: every query was evaluated separately." in seen(page, "#log .why")[0]
    assert first.get_attribute("aria-expanded") == "true"
    hub.update(replanned(after_epoch(kept, 2, QUERIES), 1.0, "rates"))  # more come: it stays open
    assert until(lambda: seen(page, "#shown") == ["3 of 6"])
    assert len(seen(page, "#log .why")) == 1
    first.send_keys(Keys.ENTER)
    assert seen(page, "#log .why") == []


def test_transitions_are_lit_by_what_was_decided_lately(page: Any, hub: MetricsServer):
    kept = collector(QUERIES)
    kept.set_drawings(drawings(parse(EXPLAINED), None))
    hub.update(after_epoch(kept, 0, QUERIES))
    page.get(hub.url)
    into = "#template .arrow.lit[data-into=B]"
    assert until(lambda: page.find_elements("css selector", into))
    lit = page.find_elements("css selector", "#template .arrow.lit")
    assert [each.get_attribute("data-queries") for each in lit] == ["3"], "the loop of B alone"
    assert "10 bursts, 80% shared" in seen(page, "#lit")[0]


def test_text_from_outside_stays_text(page: Any, hub: MetricsServer):
    bad = (HOSTILE, "two", "three")
    kept = collector(bad)
    quoted = HOSTILE.replace('"', "'")
    hostile = f'RETURN COUNT(*) PATTERN SEQ(A, "{quoted}"+) WITHIN 10 seconds'
    kept.set_drawings(drawings(parse(hostile), None))
    snapshot = replanned(after_epoch(kept, 0, bad, invalid_rows={HOSTILE: 1}), 1.0, HOSTILE)
    hub.update(replace(snapshot, job=HOSTILE))
    page.get(hub.url)
    assert until(lambda: len(decisions(page)) == 2)
    page.find_element("css selector", "#log li > button").click()
    assert page.find_elements("css selector", "img, script:not(body > script)") == []
    assert seen(page, "#job") == [HOSTILE]
    assert HOSTILE in seen(page, "#queries td")
    assert HOSTILE in seen(page, "#rows td")
    assert HOSTILE in seen(page, "#replans td")
    assert page.title == f"{HOSTILE} · Hamlet"
    assert any(
        "<img" in each for each in seen(page, "#template title") + seen(page, "#template text")
    )
    assert console(page) == []


def test_on_a_phone_and_in_the_dark(page: Any, hub: MetricsServer):
    names = tuple(f"a_rather_long_name_of_a_query_{n}" for n in range(30))
    kept = collector(names)
    hub.update(after_epoch(kept, 0, names))
    wide(page, 390, 844)
    page.get(hub.url)
    assert until(lambda: len(decisions(page)) == 2)
    page.find_element("css selector", "#log li > button").click()
    overflow = "return document.documentElement.scrollWidth - window.innerWidth"
    assert page.execute_script(overflow) <= 0
    light = ground(page)
    look(page, "dark")
    screenshot(page, "phone", 390, 844)
    dark = ground(page)
    assert sum(light) > 600
    assert sum(dark) < 150


def ground(browser: Any) -> list[int]:
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    return [int(each) for each in re.findall(r"\d+", colour)[:3]]
