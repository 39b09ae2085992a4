"""The papers' experiments as Markdown: claims, method, systems, and a section per paper with its
plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchmarks import _words as words
from benchmarks._papers import claims
from benchmarks._papers.experiment import Experiment, Figure, Sweep, in_order
from benchmarks._papers.store import Measured, Row
from benchmarks.baselines import registry
from hamlet.cli.stderr import pluralize
from runtime.errors import HamletError


def sections(chosen: Sequence[Experiment], found: Measured, images: str) -> Iterator[str]:
    yield _claims(chosen, found)
    yield _hygiene(found)
    yield _systems(chosen)
    for paper in dict.fromkeys(each.paper for each in chosen):
        yield f"## {paper.upper()}\n"
        for each in chosen:
            if each.paper == paper:
                yield _experiment(each, found, images)


def _claims(chosen: Sequence[Experiment], found: Measured) -> str:
    rows = [
        (
            line.paper.upper(),
            f"[{_number(line.figure)}](#{_slug(line.figure)})",
            line.says,
            line.measured,
            line.why,
        )
        for line in claims.lines(chosen, found)
    ]
    if not rows:
        return "The papers make no claim about these figures in words.\n"
    said = (
        "A ratio divides what the figure shows for the first system by that for the second. The "
        "table gives the smallest and the largest ratio over the points of a figure. A system that "
        "did not finish in its time limit counts with the limit, so the true ratio is larger.\n"
    )
    names = ("paper", "figure", "the paper says", "measured", "why")
    return f"## Claims\n\n{said}\n{_table(names, rows)}"


def _hygiene(found: Measured) -> str:
    lines = [_machine(found), *_HYGIENE, _limits(found)]
    ended = [row for row in found.rows if row.status == "ended"]
    if ended:
        shares = [sum(row.cpu_seconds) / sum(row.seconds) for row in ended]
        between = words.span(words.digits(min(shares)), words.digits(max(shares)))
        lines.append(
            f"CPU time is measured with wall time and shown with latencies. It is {between} times "
            "the wall time."
        )
    return "## How it was measured\n\n" + "".join(f"- {line}\n" for line in lines)


_HYGIENE = (
    "Each system runs in its own process on one thread (including numba, Arrow and BLAS), and only "
    "one system runs at a time.",
    "Columns are decoded and kernels compiled before the clock starts. A run lasts from decoded "
    "events to the last result. Latency is its time divided by its windows: the time from the last "
    "event of a window to its result if all events of the window arrive at once. Throughput is its "
    "events divided by its time, for all queries together. Memory is the most that the system "
    "stores, as the papers count it.",
)


def _machine(found: Measured) -> str:
    about, machine = found.about, found.about["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return (
        f"Machine: {machine['cpu']}, {pluralize(machine['cores'], 'core')}, "
        f"{machine['memory_gb']:g} GB, {machine['system']}. Versions: {versions}. Measured on "
        f"{about['date']}, mode `{about['mode']}`."
    )


def _limits(found: Measured) -> str:
    limits = found.about["limits"]
    return (
        "At each point, every system first runs once without being timed, and all answers are "
        f"compared. Then the systems take turns, {found.about['repeats']} times, without garbage "
        "collection. A system that takes less than 20 ms runs four times per turn: the first run "
        "refills the caches, and the median of the others counts. A run that was on a processor "
        "for less than 90% of its time was disturbed and is repeated, up to five times. Runs of a "
        "few milliseconds measure the cost of a window as much as that of its events. Plots show "
        "the median; the bars are the shortest and the longest run. A run "
        f"that takes longer than {limits['seconds']:g} s is stopped, and its system skips the "
        "later points. Plots show this as an open marker at the limit, with an arrow. A system "
        f"that takes more than {limits['memory_bytes'] / 2**30:g} GB has failed."
    )


def _systems(chosen: Sequence[Experiment]) -> str:
    names = {name for each in chosen for name in each.systems}
    found = [registry.system(name) for name in registry.NAMES if name in names]
    rows = [(f"`{each.name}`", each.about, each.cannot, each.generous or "-") for each in found]
    head = ("name", "what it does", "cannot express", "improvements over its paper")
    return f"## Systems\n\n{_table(head, rows)}"


def _experiment(each: Experiment, found: Measured, images: str) -> str:
    parts = [f"### {each.title}\n\n{each.setting} {_sizes(each, found.about['mode'])}\n"]
    for figure in sorted(each.figures, key=lambda figure: in_order(figure.name)):
        parts.append(_figure(each, figure, found, images))
    return "\n".join(parts)


def _sizes(each: Experiment, mode: str) -> str:
    """The sizes of this run; those in the setting are of a full run."""
    given = ", ".join(f"{name} {value}" for name, value in each.given[mode].items())
    return f"This run used mode `{mode}`. Unless a figure varies them: {given}."


def _figure(each: Experiment, figure: Figure, found: Measured, images: str) -> str:
    sweep = each.sweeps[figure.sweep]
    rows = found.of(each.name, figure.sweep)
    if not rows:
        raise HamletError(
            f"there are no measurements of {figure.name}",
            f"run `hamlet bench papers --figure {figure.name}`",
        )
    what = f"{words.axis(figure.shows)} over {sweep.label}"
    quick = " --quick" if found.about["mode"] == "quick" else ""
    command = f"`hamlet bench papers --figure {figure.name}{quick}`"
    parts = [
        f"#### {figure.title}\n",
        f"![{what}, by system]({images}/{figure.name}.svg)\n",
        *(
            f"{who}: {says}. Measured: {claims.told(each, claim, found)}. {claim.why}\n"
            for claim in claims.of_figure(each, figure)
            for who, says in (claims.source(claim),)
        ),
        f"{what[0].upper()}{what[1:]}: median (shortest to longest run). {command}\n",
        _values(each, sweep, figure, rows, found.limit),
        *_reasons(rows),
    ]
    return "\n".join(parts)


def _values(
    each: Experiment, sweep: Sweep, figure: Figure, rows: Sequence[Row], limit: float
) -> str:
    by = {(row.x, row.system): row for row in rows}
    systems = [name for name in each.systems if any(row.system == name for row in rows)]
    body = [
        (words.x(x), *(_cell(by[x, name], figure.shows, limit) for name in systems))
        for x in dict.fromkeys(row.x for row in rows)
    ]
    return _table((sweep.label, *systems), body)


def _cell(row: Row, shows: str, limit: float) -> str:
    if (bound := row.bound(shows, limit)) is not None:
        return f"{bound[0]} than {words.shown(bound[1], shows)}"
    if row.status != "ended":
        return row.status
    value = row.shown(shows)
    if value is None:
        return "has none"
    # the axis has the unit of a throughput, because it is long
    middle, low, high = (words.shown(each, shows).removesuffix(" events/s") for each in value)
    told = middle if low == high else f"{middle} ({low} to {high})"
    cpu = row.shown("cpu") if shows == "latency" else None
    return f"{told}, CPU {words.shown(cpu.median, 'cpu')}" if cpu else told


def _reasons(rows: Sequence[Row]) -> list[str]:
    told = dict.fromkeys(
        f"`{row.system}` {'cannot' if row.status == 'cannot' else 'failed'}: {row.reason}."
        for row in rows
        if row.status in ("cannot", "failed")
    )
    return [f"{' '.join(told)}\n"] if told else []


# ---- Markdown ------------------------------------------------------------------------------


def _number(figure: str) -> str:
    return figure.rpartition("-")[2]


def _slug(figure: str) -> str:
    """The anchor of a figure's heading, as GitHub and the documentation generate it."""
    paper, _, number = figure.rpartition("-")
    return f"{paper}-figure-{number.replace('_', '-')}"


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(map(_escaped, line))} |\n" for line in lines)


def _escaped(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")
