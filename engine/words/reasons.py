"""What each juror wrote, its marks and those of the whole jury; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias

from engine.values.language import N_
from engine.values.messages import JurorLine, Reveal
from engine.words.phrases import option_name
from engine.words.translation import number, say

Sheet: TypeAlias = Mapping[str, Mapping[str, float]]  # by contender and criterion


def reason_lines(reveal: Reveal) -> Iterator[str]:
    """Yield each juror's reasons and marks, and below them the mean marks for each criterion."""
    for juror, read in _readings(reveal).items():
        line = next((one for one in read if one.reasons), read[0])
        winner, marks = option_name(line.verdict or "", reveal.names), mean_sheet(read)
        if not line.reasons and not marks:
            continue
        template = (
            N_("- `{juror}` for **{winner}**: {text}")
            if line.reasons
            else N_("- `{juror}` for **{winner}**")
        )
        yield say(template, juror=juror, winner=winner, text=line.reasons)
        if marks:
            yield f"  {_marked(reveal, marks)}"
    if reveal.marks:
        yield ""
        yield say("**Mean marks:**")
    for criterion in criteria_of(reveal.marks):
        marked = (
            f"{option_name(side, reveal.names)} {number(sheet[criterion], '.1f')}"
            for side, sheet in reveal.marks.items()
        )
        yield f"- {say(criterion)}: {' · '.join(marked)}"


def _readings(reveal: Reveal) -> dict[str, list[JurorLine]]:
    """Return the readings that count, by juror."""
    read: dict[str, list[JurorLine]] = {}
    for line in reveal.jurors:
        if line.verdict:
            read.setdefault(line.juror, []).append(line)
    return read


def juror_sheets(reveal: Reveal) -> tuple[Sheet, ...]:
    """Return the mean marks of each juror that has a say."""
    decided = ([one for one in read if not one.recused] for read in _readings(reveal).values())
    return tuple(filter(None, map(mean_sheet, decided)))


def mean_sheet(read: Sequence[JurorLine]) -> Sheet:
    """Return the means of the marks in a juror's readings."""
    sheets = [one.marks for one in read if one.marks]
    if not sheets:
        return {}
    return {
        side: {name: fmean(sheet[side][name] for sheet in sheets) for name in marks}
        for side, marks in sheets[0].items()
    }


def criteria_of(marks: Sheet) -> tuple[str, ...]:
    """Return the criteria of a sheet, in their order."""
    return tuple(dict.fromkeys(name for sheet in marks.values() for name in sheet))


def _marked(reveal: Reveal, marks: Sheet) -> str:
    """Return a juror's marks: “🔵 A–🔴 B: logic 8–6, evidence 7–7.5”."""
    named = (
        f"{say(name)} {'–'.join(number(sheet[name], '.3g') for sheet in marks.values())}"
        for name in criteria_of(marks)
    )
    sides = "–".join(option_name(side, reveal.names) for side in marks)
    return say("{sides}: {marks}", sides=sides, marks=say(", ").join(named))
