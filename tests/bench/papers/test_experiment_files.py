"""Experiments as files: what is written wrongly is told with its file and key."""

from pathlib import Path

import pytest
import yaml

from benchmarks._papers.experiment import (
    Ratio,
    Value,
    chosen,
    experiments,
    in_order,
    load,
    readable,
)
from runtime.errors import HamletError


@pytest.fixture
def written(odd: Path, tmp_path: Path):
    """The experiment of the tests, with one key changed; `None` removes it."""

    def write(key, value):
        told = yaml.safe_load((odd / "odd-1.yaml").read_text())
        *path, last = key.split(".")
        at = told
        for part in path:
            at = at[part if part in at else int(part)]
        if value is None:
            del at[last]
        else:
            at[last] = value
        file = tmp_path / "wrong.yaml"
        file.write_text(yaml.safe_dump(told))
        return file

    return write


def test_what_a_file_says(odd: Path):
    (found,) = experiments(odd)
    assert (found.name, found.paper, found.systems[0]) == ("odd-1", "odd", "hamlet")
    assert found.given["full"] == {"events": 40_000, "queries": 10}
    assert found.given["tiny"] == {"events": 200, "queries": 2}
    sweep = found.sweeps["queries"]
    assert found.arguments(sweep, 7, "quick") == {"events": 8_000, "queries": 7}
    assert [figure.name for figure in found.figures] == ["odd-1a", "odd-1b", "odd-1c", "odd-2"]
    assert found.figures[0].title == "ODD, figure 1(a)"
    assert found.figures[3].title == "ODD, figure 2"
    ratio, value = (claim.measure for claim in found.claims)
    assert ratio == Ratio("hamlet-not-shared", "hamlet", "latency")
    assert value == Value("hamlet", "throughput", "most")


@pytest.mark.parametrize(
    ("key", "value", "message", "hint"),
    [
        ("titel", "x", "titel: there is no key `titel`", "did you mean `title`?"),
        ("title", None, "title: is missing", None),
        ("systems", ["hamlt"], "systems: there is no system `hamlt`", "did you mean `hamlet`?"),
        ("systems", ["hamlet", "hamlet"], "systems: holds something twice", None),
        ("systems", [], "systems: must be a list that is not empty", None),
        ("stream", "odd.nothing", "stream: there is no stream `odd.nothing`", None),
        ("stream", "odder.x", "stream: there is no stream `odder.x`: no module", None),
        ("given.evnts", 3, "stream `odd.changing` takes no `evnts`", "did you mean `events`?"),
        ("tiny.evnts", 3, "stream `odd.changing` takes no `evnts`", "did you mean `events`?"),
        ("sweeps.queries.varies", "qries", "stream `odd.changing` takes no `qries`", None),
        ("sweeps.queries.tiny", None, "sweeps.queries.tiny: is missing", None),
        ("sweeps.queries.quick", [1, "x"], "sweeps.queries.quick: has both numbers", None),
        ("sweeps.queries.quick", [True], "sweeps.queries.quick: holds `True`", None),
        ("figures.1a.sweep", "x", "figures.1a.sweep: there is no sweep `x`", "there is `kinds`"),
        ("figures.nine", {}, "figures.nine: is no figure", None),
        ("figures.2.sweep", "queries", "sweeps.kinds: is shown by no figure", None),
        ("claims.0.figure", "7", "claims.1.figure: there is no figure `7`", None),
        ("claims.0.value", {}, "claims.1: must have one of `ratio` and `value`", None),
        ("claims.0.ratio", None, "claims.1: must have one of `ratio` and `value`", None),
        ("claims.0.ratio.to", "greta", "claims.1.ratio.to: there is no system `greta`", None),
        ("claims.0.why", "", "claims.1.why: must be text", None),
        ("claims.1.value.best", "x", "claims.2.value.best: there is no choice `x`", None),
    ],
)
def test_an_error_is_told_with_its_place(written, key, value, message, hint):
    with pytest.raises(HamletError) as caught:
        load(written(key, value))
    assert caught.value.message.startswith("wrong.yaml: ")
    assert message in caught.value.message
    if hint is not None:
        assert hint in str(caught.value.hint)


def test_no_yaml_and_keys_that_are_written_twice(tmp_path: Path):
    file = tmp_path / "wrong.yaml"
    file.write_text("title: [")
    with pytest.raises(HamletError, match="is not YAML"):
        load(file)
    file.write_text("figures:\n  9a: {}\n  9a: {}\n")
    with pytest.raises(HamletError, match="`9a` is written twice"):
        load(file)


def test_a_figure_is_drawn_by_one_experiment(odd: Path, tmp_path: Path):
    for name in ("one", "other"):
        (tmp_path / f"{name}.yaml").write_text((odd / "odd-1.yaml").read_text())
    with pytest.raises(HamletError, match="figure odd-1a is drawn by both one and other"):
        experiments(tmp_path)


def test_no_experiments(tmp_path: Path):
    with pytest.raises(HamletError, match="there are no experiments in"):
        experiments(tmp_path)


@pytest.mark.parametrize(
    ("asked", "figures", "claims"),
    [
        (["odd-1a"], ["odd-1a"], 1),
        (["odd-1"], ["odd-1a", "odd-1b", "odd-1c", "odd-2"], 2),  # the file's name
        (["odd-2"], ["odd-2"], 0),
        (["odd"], ["odd-1a", "odd-1b", "odd-1c", "odd-2"], 2),
        (["odd-2", "odd-1c"], ["odd-1c", "odd-2"], 0),
        ([], ["odd-1a", "odd-1b", "odd-1c", "odd-2"], 2),
    ],
)
def test_what_is_asked_for(odd: Path, asked, figures, claims):
    (found,) = chosen(experiments(odd), asked)
    assert [figure.name for figure in found.figures] == figures
    assert len(found.claims) == claims
    assert found.sweeps.keys() == {figure.sweep for figure in found.figures}


def test_an_unknown_figure_lists_all(odd: Path):
    with pytest.raises(HamletError, match="there is no figure `odd-1x`") as caught:
        chosen(experiments(odd), ["odd-1x"])
    assert "did you mean `odd-1" in str(caught.value.hint)
    assert "figures: odd-1a, odd-1b, odd-1c, odd-2" in str(caught.value.hint)


@pytest.fixture
def half_wrong(odd: Path, tmp_path: Path):
    """A file that is right, and one that is not."""
    (tmp_path / "odd-1.yaml").write_text((odd / "odd-1.yaml").read_text())
    (tmp_path / "odd-7-late.yaml").write_text("titel: x\n")
    return tmp_path


def test_a_wrong_file_does_not_stop_figures_of_others(half_wrong: Path):
    found, wrong = readable(half_wrong)
    assert wrong.keys() == {"odd-7-late"}
    (one,) = chosen(found, ["odd-1a"], wrong)
    assert [figure.name for figure in one.figures] == ["odd-1a"]


@pytest.mark.parametrize("asked", [[], ["odd"], ["odd-7"], ["odd-7-late"], ["odd-1a", "odd-7"]])
def test_a_wrong_file_stops_who_asks_for_it(half_wrong: Path, asked: list[str]):
    found, wrong = readable(half_wrong)
    with pytest.raises(HamletError, match=r"odd-7-late.yaml: titel: there is no key"):
        chosen(found, asked, wrong)


def test_a_figure_that_may_be_of_a_wrong_file_is_told_so(half_wrong: Path):
    found, wrong = readable(half_wrong)
    with pytest.raises(HamletError, match=r"no figure `odd-8a`; odd-7-late.yaml: titel"):
        chosen(found, ["odd-8a"], wrong)


def test_the_order_of_figures():
    names = ["hamlet-10a", "hamlet-9b", "cogra-13", "hamlet-9a"]
    assert sorted(names, key=in_order) == ["cogra-13", "hamlet-9a", "hamlet-9b", "hamlet-10a"]
