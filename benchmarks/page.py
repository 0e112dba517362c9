"""The runs that are kept, as a part of `docs/performance.md`, with a picture for each beside it.

python -m benchmarks.page     write both anew from benchmarks/results, without measuring
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from benchmarks.environment import ROOT
from benchmarks.measure import Verdict
from benchmarks.plot import drawn
from benchmarks.results import KEPT, MeasuredRow, Run, count_met, read_all
from benchmarks.telling import HEADINGS, cells, figure

PAGE = ROOT / "docs" / "performance.md"

_FIGURES = re.compile(r"(^<!-- figures: [^\n]* -->\n).*?(^<!-- end of figures -->)", re.DOTALL | re.MULTILINE)
_NUMBERS = {"costs", "which costs", "ratio", "half of them", "at most"}


def renewed(page: str, runs: Sequence[Run]) -> str:
    """The text of the page with the figures of these runs between its marks."""
    made = f"\n{figures(runs)}\n" if runs else ""
    return _FIGURES.sub(lambda found: f"{found[1]}{made}{found[2]}", page)


def pictures(runs: Sequence[Run]) -> dict[str, str]:
    """The pictures that belong to the page: what each is called, and its text."""
    return {_picture(run): drawn(run) for run in runs}


def write(page: Path = PAGE, kept: Path = KEPT) -> None:
    """Write the page's figures anew, and its pictures; that of a run which is no longer kept goes."""
    runs = read_all(kept)
    made = pictures(runs)
    page.write_text(renewed(page.read_text(encoding="utf-8"), runs), encoding="utf-8")
    for old in page.parent.glob(f"{PAGE.stem}-*.svg"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (page.parent / name).write_text(text, encoding="utf-8")


def figures(runs: Sequence[Run]) -> str:
    """Where it was measured, what was missed, and then every table."""
    machines = {run.machine for run in runs}
    met, judged = count_met(runs)
    parts = [f"Measured on {_plain(runs[0].machine)}.\n"] if len(machines) == 1 else []
    parts.append(f"**{met} of {judged} limits are met.**{' Missed are:' if met < judged else ''}\n")
    if missed := [_missed(run, row, verdict) for run in runs for row, verdict in run.missed]:
        parts.append("".join(missed))
    return "\n".join([*parts, *(_section(run, tell_machine=len(machines) > 1) for run in runs)])


def _missed(run: Run, row: MeasuredRow, verdict: Verdict) -> str:
    """One line on what was promised and not kept."""
    against = f" against {verdict.against}" if verdict.against else ""
    found = f"{figure(verdict.ratio)} × instead of {verdict.at_most:g} ×" if verdict.ratio is not None else verdict.note
    close = ", which is close" if verdict.close else ""
    return f"- {_plain(f'{run.table} {run.python}, {row.key}: {verdict.what}{against}: {found}{close}')}\n"


def _section(run: Run, *, tell_machine: bool) -> str:
    return "\n".join(
        [
            f"### {run.table}, Python {run.python}\n",
            f"{_plain(run.what)} {_circumstances(run, tell_machine=tell_machine)}\n",
            f"![How much of each limit is used]({_picture(run)})\n",
            "".join(f"| {' | '.join(line)} |\n" for line in _lines(run)),
        ]
    )


def _circumstances(run: Run, *, tell_machine: bool) -> str:
    """When, with what, and how to do it again."""
    rounds = run.about["rounds"]
    versions = ", ".join(f"{name} {value}" for name, value in run.about.items() if name != "rounds")
    return (
        f"{run.date}{f', {_plain(run.machine)}' if tell_machine else ''}; {_plain(versions)};"
        f" {'1 round' if rounds == '1' else f'{rounds} rounds'} in {run.took:.0f} s, at a load of {run.load:g} before."
        f" Again: `python -m benchmarks --only {run.table} --python {run.python} --rounds {rounds}`."
    )


def _lines(run: Run) -> Iterator[Sequence[str]]:
    """The table of a run, line by line; a row's title stands above its verdicts."""
    yield HEADINGS
    yield ["---:" if heading in _NUMBERS else "---" for heading in HEADINGS]
    for row in run.rows:
        yield [f"**{_plain(row.title)}**", *[""] * (len(HEADINGS) - 1)]
        for verdict in row.verdicts:
            *others, said = map(_plain, cells(verdict))
            yield [*others, f"**{said}**" if verdict.met is False else said]


def _plain(text: str) -> str:
    """Text in which no letter means anything to a reader of Markdown, on one line."""
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", escape(" ".join(text.split()), quote=False))


def _picture(run: Run) -> str:
    return f"{PAGE.stem}-{run.name}.svg"


if __name__ == "__main__":
    write()
