"""The numbers behind a reveal, for those who ask for them; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias

from engine.values.debate import REHEARSAL, Criterion
from engine.values.language import N_
from engine.values.messages import JurorLine, Reveal
from engine.values.text import headline
from engine.values.verdicts import AGREEING, TIE, Verdict
from engine.words.phrases import BRIEF_STANCE, NO_STANCES, money, option_name
from engine.words.translation import number, plural, say

CONTRADICTORY = N_("contradicts its own scores")


def detail_lines(reveal: Reveal) -> Iterator[str]:
    """Yield every count, chance and reading of a reveal; the last line has calls and cost."""
    yield from _votes(reveal)
    yield _jury(reveal)
    yield from _jurors(reveal.jurors, reveal.names)
    yield from _guesses(reveal)
    if reveal.criteria:
        yield _scored(reveal.criteria)
    if reveal.agree is None:
        yield say("People and jury cannot be compared: at least one of them did not decide.")
    yield from judges_line(reveal)
    yield plural(
        "{n} model call, {cost}", "{n} model calls, {cost}", reveal.calls, cost=money(reveal.usd)
    )


def judges_line(reveal: Reveal) -> Iterator[str]:
    """Yield which models are the format's own judges, where it has any."""
    if reveal.judges:
        yield say(
            "Also judged by {judges}",
            judges=say(", ").join(f"`{judge}`" for judge in reveal.judges),
        )


def _votes(reveal: Reveal) -> Iterator[str]:
    tally, contenders = reveal.tally, tuple(reveal.models)
    said = say("**People:** {counts}", counts=counts_of(tally.deciding, reveal.names))
    if tally.share is not None and tally.low is not None and tally.high is not None:
        bounds = {"low": 100 * tally.low, "high": 100 * tally.high}
        said += say("; ") + say(
            "{side}'s share {share:.0f}% ({low:.0f}–{high:.0f}%)",
            side=option_name(contenders[0], reveal.names),
            share=100 * tally.share,
            **bounds,
        )
    yield said
    if tally.others:
        yield plural(
            "With {n} vote that is not independent: {counts}",
            "With {n} votes that are not independent: {counts}",
            tally.others,
            counts=counts_of(tally.counts, reveal.names),
        )


def _guesses(reveal: Reveal) -> Iterator[str]:
    """Yield how many guesses at each side's model were right, with the interval and chance."""
    for side, (low, high) in reveal.guess_bounds.items():
        right, n = reveal.guessed[side]
        shares = {"low": 100 * low, "high": 100 * high}
        shares["chance"] = 100 / max(reveal.menu, 1)
        yield say(
            "Guesses at {side}: {right} of {n} right ({low:.0f}–{high:.0f}%; by chance "
            "{chance:.0f}%)",
            side=option_name(side, reveal.names),
            right=right,
            n=n,
            **shares,
        )


def counts_of(counts: Mapping[str, int], names: Mapping[str, str] = NO_STANCES) -> str:
    """Return counts by option, such as `A 3 · B 2`."""
    return " · ".join(f"{option_name(option, names)} {n}" for option, n in counts.items())


def readings_of(reveal: Reveal) -> str:
    """Return how many readings are for each contender, and how many for a tie."""
    readings, names = reveal.verdict.readings, reveal.names
    options = (*reveal.models, TIE)
    return counts_of({one: readings[one] for one in options if one in readings}, names)


def lacks_readings(reveal: Reveal) -> bool:
    """Return whether the panel read too seldom for a verdict before its jurors are proven to see.

    Jurors of a rehearsal need fewer.
    """
    rehearsed = all(line.juror.startswith(f"{REHEARSAL}/") for line in reveal.jurors)
    return 0 < sum(reveal.verdict.readings.values()) < AGREEING and not rehearsed


def _jury(reveal: Reveal) -> str:
    verdict, names = reveal.verdict, reveal.names
    stance = reveal.stances.get(verdict.winner or "")
    own = (say("“{stance}”", stance=headline(stance, BRIEF_STANCE)),) if stance else ()
    said = say(", ").join((*own, *_details(reveal)))
    if lacks_readings(reveal):
        return say(
            "**Jury:** no verdict yet. Readings: {counts} ({detail}). Six have to agree while "
            "these jurors have not yet shown that they see more than order or chance. That takes "
            "three jurors; the operator can name more.",
            counts=readings_of(reveal),
            detail=said,
        )
    if verdict.readings:
        return say(
            "**Jury:** no verdict yet. Readings: {counts} ({detail}). These jurors have not yet "
            "shown that they see more than order or chance. More debates can show it, or the "
            "operator's `rostrum calibrate`.",
            counts=readings_of(reveal),
            detail=said,
        )
    if verdict.winner is None:
        return say(
            "**Jury:** no verdict, {problem} ({detail})", problem=_problem(verdict), detail=said
        )
    template = (
        N_("**Jury: a tie** ({detail})")
        if verdict.winner == TIE
        else N_("**Jury: {winner}** ({detail})")
    )
    return say(template, winner=option_name(verdict.winner, names), detail=said)


def _problem(verdict: Verdict) -> str:
    """Return why there is no verdict, as people say it."""
    if verdict.single:
        return say("the juror read it twice, and both readings must count")
    if verdict.valid < 2:
        return say("too few jurors gave an answer that counts")
    return say("every juror read it in the same order, which could have decided it")


def _details(reveal: Reveal) -> Iterator[str]:
    verdict = reveal.verdict
    if verdict.single:
        yield say("a single juror")
    yield from _chances(verdict, reveal.names)
    if readers := len({line.juror for line in reveal.jurors}):
        yield plural("{n} juror read it", "{n} jurors read it", readers)
    yield plural("{n} reading counted", "{n} readings counted", verdict.valid)
    if verdict.invalid:
        yield say("{n} not counted", n=verdict.invalid)
    if verdict.effective_votes is not None:
        yield say("worth {n:.1f} independent votes", n=verdict.effective_votes)
    if verdict.order_alone:
        yield say("no side led in every order of reading")
    if not verdict.blind:
        yield say("jurors saw the models' names")


def _chances(verdict: Verdict, names: Mapping[str, str]) -> Iterator[str]:
    """Yield how sure the jury is of its winner; of many answers and of a tie, every chance."""
    # No jury is ever quite sure.
    chances = {side: min(max(100 * p, 1.0), 99.0) for side, p in verdict.p.items()}
    if len(chances) == 2 and verdict.winner in chances:
        side = verdict.winner
        yield say("{p:.0f}% sure that {side} won", side=option_name(side, names), p=chances[side])
    else:
        yield from (
            say("{side} {p:.0f}%", side=option_name(s, names), p=p) for s, p in chances.items()
        )


def _scored(criteria: Sequence[Criterion]) -> str:
    """Return what jurors scored, the range once where it is the same for all."""
    ranges = [say("{low}–{high}", low=one.lowest, high=one.highest) for one in criteria]
    if len(set(ranges)) == 1:
        return say(
            "Jurors scored {names} ({range} each).",
            names=say(", ").join(say(c.name) for c in criteria),
            range=ranges[0],
        )
    named = (f"{say(one.name)} {range}" for one, range in zip(criteria, ranges, strict=True))
    return say("Jurors scored {names}.", names=say(", ").join(named))


def _jurors(lines: Iterable[JurorLine], names: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each juror: both readings of one that read twice."""
    by_juror: dict[str, list[JurorLine]] = {}
    for line in lines:
        by_juror.setdefault(line.juror, []).append(line)
    for juror, read in by_juror.items():
        readings = say("; ").join(_reading(one, names) for one in read)
        yield say("- `{juror}`: {readings}", juror=juror, readings=readings) + (
            say("; not counted, as it is related to a debater") if read[0].recused else ""
        )


def _reading(line: JurorLine, names: Mapping[str, str]) -> str:
    order = say(", ").join(map(option_name, line.order))
    if names:  # each juror reads them all, from another one on
        order = say("from {name} on", name=option_name(line.order[0], names))
    if line.verdict is None:
        return say("no answer that counts (read {order})", order=order)
    said = say("{verdict} (read {order})", verdict=option_name(line.verdict, names), order=order)
    return f"{said}, {say(CONTRADICTORY)}" if line.contradictory else said


# What each juror wrote, its marks and those of the whole jury; Markdown for any chat.


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
