"""Reads an experiment of a paper from its file: stream, sweeps, systems, figures and claims.

The file is checked key by key as it is read, so that a typo does not lose a plot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import yaml

from benchmarks.baselines import registry
from runtime.errors import HamletError, did_you_mean

FOLDER = Path(__file__).parent / "experiments"
STREAMS = "benchmarks._papers.streams"
MODES = ("full", "quick", "tiny")

#: What a sweep goes through: a number, or a word.
X: TypeAlias = "int | float | str"

#: The last word is for a part of a figure that is drawn by itself: 19a_simple.
_FIGURE = re.compile(r"(\d+)([a-z]?)(?:_([a-z]+))?")


@dataclass(frozen=True)
class Sweep:
    """One argument of the stream goes through values, from cheap to dear: a system that does not
    end at one of them is not tried at those after it."""

    name: str
    varies: str
    label: str
    values: Mapping[str, tuple[X, ...]]  #: by mode


@dataclass(frozen=True)
class Figure:
    name: str  #: hamlet-9a
    sweep: str
    shows: str

    @property
    def family(self) -> str:
        paper, number, *_ = in_order(self.name)
        return f"{paper}-{number}"

    @property
    def title(self) -> str:
        """As papers write it: `HAMLET, figure 9(a)`."""
        paper, _, number = self.name.rpartition("-")
        return f"{paper.upper()}, figure {_FIGURE.sub(_written, number)}"


def _written(number: re.Match[str]) -> str:
    return (
        number[1]
        + (f"({number[2]})" if number[2] else "")
        + (f", {number[3]}" if number[3] else "")
    )


@dataclass(frozen=True)
class Ratio:
    """How many times as much `of` shows as `to` does, at each point."""

    of: str
    to: str
    shows: str


@dataclass(frozen=True)
class Value:
    """The most, or the least, that `of` shows at any point."""

    of: str
    shows: str
    best: str


@dataclass(frozen=True)
class Claim:
    says: str
    figure: str
    measure: Ratio | Value
    why: str


@dataclass(frozen=True)
class Experiment:
    name: str  #: of the file
    title: str
    paper: str
    setting: str
    stream: str
    given: Mapping[str, Mapping[str, Any]]  #: arguments of the stream, by mode
    systems: tuple[str, ...]
    sweeps: Mapping[str, Sweep]
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]

    def arguments(self, sweep: Sweep, x: X, mode: str) -> dict[str, Any]:
        return {**self.given[mode], sweep.varies: x}

    def only(self, figures: Iterable[str]) -> Experiment:
        """The part that draws these figures."""
        names = set(figures)
        kept = tuple(each for each in self.figures if each.name in names)
        used = {each.sweep for each in kept}
        return Experiment(
            **vars(self)
            | {
                "figures": kept,
                "claims": tuple(claim for claim in self.claims if claim.figure in names),
                "sweeps": {name: each for name, each in self.sweeps.items() if name in used},
            }
        )


def experiments(folder: Path = FOLDER, systems: Sequence[str] = registry.NAMES) -> list[Experiment]:
    """All of a folder, in the order of papers and figures."""
    found, wrong = readable(folder, systems)
    return chosen(found, (), wrong)


def readable(
    folder: Path = FOLDER, systems: Sequence[str] = registry.NAMES
) -> tuple[list[Experiment], dict[str, HamletError]]:
    """Those of a folder that are written rightly, and what is wrong with the others, by name."""
    found: list[Experiment] = []
    wrong: dict[str, HamletError] = {}
    for path in sorted(folder.glob("*.yaml")):
        try:
            found.append(load(path, systems))
        except HamletError as error:
            wrong[path.stem] = error
    if not found and not wrong:
        raise HamletError(f"there are no experiments in {folder}")
    return _ordered(found), wrong


def _ordered(found: Sequence[Experiment]) -> list[Experiment]:
    names: dict[str, str] = {}
    for each in found:
        for figure in each.figures:
            if figure.name in names:
                raise HamletError(
                    f"figure {figure.name} is drawn by both {names[figure.name]} and {each.name}"
                )
            names[figure.name] = each.name
    return sorted(found, key=lambda each: (each.paper, in_order(each.figures[0].name), each.name))


def in_order(figure: str) -> tuple[str, int, str, str]:
    """hamlet-9b comes before hamlet-10a."""
    paper, _, number = figure.rpartition("-")
    match = _FIGURE.fullmatch(number)
    assert match is not None
    return paper, int(match[1]), match[2], match[3] or ""


def chosen(
    found: Sequence[Experiment],
    asked: Sequence[str],
    wrong: Mapping[str, HamletError] = MappingProxyType({}),
) -> list[Experiment]:
    """What draws the figures asked for: one (hamlet-9a), a family (hamlet-9), those of a file or of
    a paper (hamlet); all, if none is asked for. What is wrong with a file is raised only if it may
    be the one that draws them."""
    for stem, error in wrong.items():
        if not asked or not found or any(f"{stem}-".startswith(f"{name}-") for name in asked):
            raise error
    if not asked:
        return list(found)
    names: dict[str, set[str]] = {}
    for each in found:
        for figure in each.figures:
            for name in (figure.name, figure.family, each.name, each.paper):
                names.setdefault(name, set()).add(figure.name)
    wanted: set[str] = set()
    for name in asked:
        if name not in names:
            unread = "".join(f"; {error.message}" for error in wrong.values())
            hint = _what_there_is(name, found, names)
            raise HamletError(f"there is no figure `{name}`{unread}", hint)
        wanted |= names[name]
    parts = [each.only(wanted) for each in found]
    return [part for part in parts if part.figures]


def drawn_from(found: Sequence[Experiment], sweeps: Container[tuple[str, str]]) -> list[Experiment]:
    """The part of which there are measurements: `sweeps` are names of experiments and sweeps."""
    parts = [
        each.only(figure.name for figure in each.figures if (each.name, figure.sweep) in sweeps)
        for each in found
    ]
    return [part for part in parts if part.figures]


def _what_there_is(name: str, found: Sequence[Experiment], names: Iterable[str]) -> str:
    near = did_you_mean(name, names) or ""
    figures = sorted((figure.name for each in found for figure in each.figures), key=in_order)
    listed = f"a figure, a family of them (`{found[0].figures[0].family}`) or a paper " + (
        f"(`{found[0].paper}`); figures: {', '.join(figures)}"
    )
    return f"{near} {listed}" if near.startswith("did") else listed


def stream(name: str) -> Callable[..., Any]:
    """`hamlet.ridesharing` is a function of streams/hamlet.py."""
    module, _, function = name.rpartition(".")
    try:
        found = import_module(f"{STREAMS}.{module}")
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(STREAMS):
            raise
        raise HamletError(f"there is no stream `{name}`: no module {error.name}") from None
    made: Callable[..., Any] | None = getattr(found, function, None)
    if made is None:
        public = [each for each in vars(found) if not each.startswith("_")]
        raise HamletError(f"there is no stream `{name}`", did_you_mean(function, public))
    return made


# ---- reading -------------------------------------------------------------------------------


def load(path: Path, systems: Sequence[str] = registry.NAMES) -> Experiment:
    try:
        read = yaml.load(path.read_text(encoding="utf-8"), _Strict)
    except yaml.YAMLError as error:
        raise HamletError(f"{path}: is not YAML: {error}") from None
    return _Reader(path, systems).experiment(read)


class _Strict(yaml.SafeLoader):
    """Refuses a key that is written twice, of which YAML keeps the last."""


def _mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [loader.construct_object(key) for key, _ in node.value]
    for key in keys:
        if keys.count(key) > 1:
            raise yaml.constructor.ConstructorError(
                None, None, f"`{key}` is written twice", node.start_mark
            )
    return loader.construct_mapping(node, deep=True)


_Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


class _Reader:
    """Every method takes what YAML gave and the place of it, such as `sweeps.events.values`."""

    def __init__(self, path: Path, systems: Sequence[str]) -> None:
        self._path = path
        self._systems = systems

    def experiment(self, read: Any) -> Experiment:
        keys = ("title", "paper", "setting", "stream", "given", "systems", "sweeps", "figures")
        told = self._keys(read, "", keys, ("quick", "tiny", "claims"))
        given = self._arguments(told["given"], "given")
        by_mode = {
            mode: given | self._arguments(told.get(mode) or {}, mode) for mode in MODES[1:]
        } | {"full": given}
        paper = self._text(told["paper"], "paper")
        sweeps = {
            str(name): self._sweep(str(name), each)
            for name, each in self._some(told["sweeps"], "sweeps").items()
        }
        figures = tuple(
            self._figure(paper, str(name), each, sweeps)
            for name, each in self._some(told["figures"], "figures").items()
        )
        unused = sweeps.keys() - {figure.sweep for figure in figures}
        if unused:
            raise self._wrong(f"sweeps.{min(unused)}", "is shown by no figure")
        names = self._listed(told["systems"], "systems")
        for name in names:
            self._known(name, "systems", self._systems, "system")
        name = self._text(told["stream"], "stream")
        arguments = [argument for each in by_mode.values() for argument in each]
        self._checked_stream(name, [*arguments, *(sweep.varies for sweep in sweeps.values())])
        return Experiment(
            name=self._path.stem,
            title=self._text(told["title"], "title"),
            paper=paper,
            setting=" ".join(self._text(told["setting"], "setting").split()),
            stream=name,
            given=by_mode,
            systems=names,
            sweeps=sweeps,
            figures=figures,
            claims=self._claims(told.get("claims") or [], figures, names),
        )

    def _sweep(self, name: str, read: Any) -> Sweep:
        at = f"sweeps.{name}"
        told = self._keys(read, at, ("varies", "label", "values", "quick", "tiny"))
        places = {"full": "values", "quick": "quick", "tiny": "tiny"}
        values = {mode: self._values(told[key], f"{at}.{key}") for mode, key in places.items()}
        return Sweep(
            name,
            self._text(told["varies"], f"{at}.varies"),
            self._text(told["label"], f"{at}.label"),
            values,
        )

    def _values(self, read: Any, at: str) -> tuple[X, ...]:
        found: tuple[X, ...] = self._listed(read, at, (int, float, str))
        if len({isinstance(each, str) for each in found}) > 1:
            raise self._wrong(at, "has both numbers and words")
        return found

    def _figure(self, paper: str, name: str, read: Any, sweeps: Mapping[str, Sweep]) -> Figure:
        at = f"figures.{name}"
        if _FIGURE.fullmatch(name) is None:
            raise self._wrong(at, "is no figure; expected a number and perhaps a letter: 9a")
        told = self._keys(read, at, ("sweep", "shows"))
        self._known(str(told["sweep"]), f"{at}.sweep", sweeps, "sweep")
        shows = self._text(told["shows"], f"{at}.shows")
        return Figure(f"{paper}-{name}", str(told["sweep"]), shows)

    def _claims(
        self, read: Any, figures: Sequence[Figure], systems: Sequence[str]
    ) -> tuple[Claim, ...]:
        if not isinstance(read, list):
            raise self._wrong("claims", "must be a list")
        return tuple(
            self._claim(each, f"claims.{place}", figures, systems)
            for place, each in enumerate(read, 1)
        )

    def _claim(
        self, read: Any, at: str, figures: Sequence[Figure], systems: Sequence[str]
    ) -> Claim:
        told = self._keys(read, at, ("says", "figure", "why"), ("ratio", "value"))
        paper = figures[0].name.rpartition("-")[0]
        numbers = [each.name.removeprefix(f"{paper}-") for each in figures]
        self._known(str(told["figure"]), f"{at}.figure", numbers, "figure")
        if ("ratio" in told) == ("value" in told):
            raise self._wrong(at, "must have one of `ratio` and `value`")
        measure: Ratio | Value
        if "ratio" in told:
            parts = self._texts(told["ratio"], f"{at}.ratio", ("of", "to", "shows"))
            measure = Ratio(**parts)
            self._known(measure.to, f"{at}.ratio.to", systems, "system")
        else:
            parts = self._texts(told["value"], f"{at}.value", ("of", "shows", "best"))
            measure = Value(**parts)
            self._known(measure.best, f"{at}.value.best", ("most", "least"), "choice")
        self._known(measure.of, f"{at}.of", systems, "system")
        says, why = (" ".join(self._text(told[key], f"{at}.{key}").split()) for key in _SAID)
        return Claim(says, f"{paper}-{told['figure']}", measure, why)

    # ---- kinds of values

    def _keys(
        self, read: Any, at: str, needed: Sequence[str], others: Sequence[str] = ()
    ) -> dict[str, Any]:
        told = {str(key): value for key, value in self._some(read, at).items()}
        known = [*needed, *others]
        for key in told:
            self._known(key, f"{at}.{key}" if at else key, known, "key")
        for key in needed:
            if key not in told:
                raise self._wrong(f"{at}.{key}" if at else key, "is missing")
        return told

    def _texts(self, read: Any, at: str, keys: Sequence[str]) -> dict[str, str]:
        told = self._keys(read, at, keys)
        return {key: self._text(value, f"{at}.{key}") for key, value in told.items()}

    def _some(self, read: Any, at: str) -> dict[Any, Any]:
        if not isinstance(read, dict) or not read:
            raise self._wrong(at, "must be a mapping that is not empty")
        return read

    def _arguments(self, read: Any, at: str) -> dict[str, Any]:
        if not isinstance(read, dict):
            raise self._wrong(at, "must be a mapping")
        return {str(key): value for key, value in read.items()}

    def _text(self, read: Any, at: str) -> str:
        if not isinstance(read, str) or not read.strip():
            raise self._wrong(at, "must be text")
        return read

    def _listed(self, read: Any, at: str, kinds: tuple[type, ...] = (str,)) -> tuple[Any, ...]:
        if not isinstance(read, list) or not read:
            raise self._wrong(at, "must be a list that is not empty")
        for each in read:
            if not isinstance(each, kinds) or isinstance(each, bool):
                raise self._wrong(at, f"holds `{each}`, which does not belong there")
        if len(set(read)) < len(read):
            raise self._wrong(at, "holds something twice")
        return tuple(read)

    def _known(self, name: str, at: str, names: Iterable[str], what: str) -> None:
        names = list(names)
        if name not in names:
            raise self._wrong(at, f"there is no {what} `{name}`", did_you_mean(name, names))

    def _checked_stream(self, name: str, arguments: Iterable[str]) -> None:
        from inspect import Parameter, signature

        try:
            parameters = signature(stream(name)).parameters
        except HamletError as error:
            raise self._wrong("stream", error.message, error.hint) from None
        if any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values()):
            return
        for argument in arguments:
            if argument not in parameters:
                raise self._wrong(
                    "given or sweeps",
                    f"stream `{name}` takes no `{argument}`",
                    did_you_mean(argument, parameters),
                )

    def _wrong(self, at: str, what: str, hint: str | None = None) -> HamletError:
        return HamletError(f"{self._path.name}: {at}: {what}" if at else what, hint)


_SAID = ("says", "why")
