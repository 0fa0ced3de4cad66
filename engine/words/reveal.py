"""The wording of a reveal: models, people's vote, jury; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from engine.debate import Criterion
from engine.judging import TIE, Persuasion, Verdict
from engine.messages import JurorLine, Reveal
from engine.text import headline
from engine.words.phrases import (
    BRIEF_STANCE,
    NO_STANCES,
    money,
    option_name,
    rehearsed,
    round_name,
    sided,
)
from engine.words.translation import plural, say

ASIDE = {
    "channel": "This debate's thread takes no messages, so the result is shown here.",
    "starter": "The result cannot be posted where this debate ran. You started it, so you get the "
    "result here.",
}
MODEL = "{side} was `{model}`"
DRAWN = "{side} was `{model}`, drawn at random"
REPLACED = "`{was}` became unavailable; `{now}` took its place."
SEAT = "{seat} `{model}`"
JUDGES = "Also judged by {judges}"
PEOPLE = "**People:** {counts}"
SHARE = "{side}'s share {share:.0f}% ({low:.0f}–{high:.0f}%)"
GOLD = "Independent votes: {counts}"
AHEAD = "Ahead after {rounds}"
AFTER_ROUND = "{round}: {counts}"
PEOPLE_CHOSE = "People chose {winner}."
PEOPLE_TIED = "People call it a tie."
NO_QUORUM = "Too few votes for a human winner."
NO_VOTES = "No one voted."
GAPS = (
    "{n} message may be missing from the debate's thread, so the vote has no winner.",
    "{n} messages may be missing from the debate's thread, so the vote has no winner.",
)
UNREAD = (
    "The reactions could not be read before the vote closed. The counts are the last known ones, "
    "and no vote counts as a label."
)
JURY_CHOSE = "**Jury: {winner}** ({detail})"
JURY_STANCE = "“{stance}”"
JURY_TIED = "**Jury: a tie** ({detail})"
JURY_NOTHING = "**Jury:** no verdict, {problem} ({detail})"
SURE = "{p:.0f}% sure that {side} won"
CHANCE = "{side} {p:.0f}%"
READERS = ("{n} juror read it", "{n} jurors read it")
VALID = ("{n} ballot counted", "{n} ballots counted")
INVALID = "{n} not counted"
EFFECTIVE = "worth {n:.1f} independent votes"
ORDER_ALONE = "no side led in every order of reading"
NOT_BLIND = "jurors saw the models' names"
RANGE = "{low}–{high}"
SCORED = "Jurors scored {names}."
SCORED_ALIKE = "Jurors scored {names} ({range} each)."
SINGLE = "a single juror"
JUROR = "- `{juror}`: {readings}"
READING = "{verdict} (read {order})"
READING_INVALID = "invalid, {problem} (read {order})"
FROM = "from {name} on"
RECONCILED = {
    "convergence": "The table's result is **{own}** and the jury's **{panel}**: the first is the "
    "answer that shares most words with the others, and the jury judged which answer is best.",
    "best_draft": "The table's own judges picked **{own}** and the jury **{panel}**: the first "
    "named one best answer, and the jury added up marks for each criterion.",
    "answers": "The table's own judges chose **{own}** and the jury **{panel}**: both marked the "
    "same final answers, but they are different readers, and their marks are weighed differently.",
}
CONTRADICTORY = "contradicts its own scores"
RECUSED = "; not counted, as it is related to a debater"
IN_SHORT = "**In short:** {text}"
SHORTENED = "**In short** (shortened)**:** {text}"
AGREE = {
    True: "People and jury **agree**.",
    False: "People and jury **disagree**.",
    None: "People and jury cannot be compared: at least one of them did not decide.",
}
MOVED = (
    "{moved} of {n} person changed sides: {counts} (stances before and after).",
    "{moved} of {n} people changed sides: {counts} (stances before and after).",
)
SPENT = ("{n} model call, {cost}", "{n} model calls, {cost}")


def reveal_lines(reveal: Reveal) -> Iterator[str]:
    """Yield the lines of a reveal; the last has calls and cost."""
    names, captions = reveal.names, {**reveal.stances, **reveal.names}
    for side, model in reveal.models.items():
        named = sided(side, captions)
        yield say(DRAWN if side in reveal.drawn else MODEL, side=named, model=model)
    yield from (say(REPLACED, was=was, now=now) for was, now in reveal.replaced)
    if reveal.rehearsal:
        yield rehearsed(reveal.rehearsal)
    if reveal.seats:
        yield " · ".join(say(SEAT, seat=seat, model=m) for seat, m in reveal.seats.items())
    if reveal.judges:
        yield say(JUDGES, judges=say(", ").join(f"`{judge}`" for judge in reveal.judges))
    yield ""
    yield from _people(reveal)
    if reveal.course:
        yield _course(reveal)
    if reveal.persuasion is not None and reveal.persuasion.people:
        yield _persuasion(reveal.persuasion)
    yield ""
    yield _jury(reveal)
    yield from _jurors(reveal.jurors, names)
    if reveal.criteria:
        yield _scored(reveal.criteria)
    yield from _reconciled(reveal)
    yield ""
    yield say(AGREE[reveal.agree])
    summary = reveal.verdict.summary
    if summary is not None and summary.text:
        yield ""
        said = SHORTENED if summary.fit in ("trimmed", "cut") else IN_SHORT
        yield say(said, text=summary.text)
    yield plural(SPENT, reveal.calls, cost=money(reveal.usd))


def _people(reveal: Reveal) -> Iterator[str]:
    tally, contenders = reveal.tally, tuple(reveal.models)
    said = say(PEOPLE, counts=_counts(tally.counts, reveal.names))
    if tally.share is not None and tally.low is not None and tally.high is not None:
        bounds = {"low": 100 * tally.low, "high": 100 * tally.high}
        said += say("; ") + say(
            SHARE, side=option_name(contenders[0], reveal.names), share=100 * tally.share, **bounds
        )
    yield said
    if reveal.unread:
        yield say(UNREAD)
        return
    if tally.gold != tally.counts:
        yield say(GOLD, counts=_counts(tally.gold, reveal.names))
    yield plural(GAPS, reveal.gaps) if reveal.gaps else _human_winner(reveal)


def _counts(counts: dict[str, int], names: Mapping[str, str] = NO_STANCES) -> str:
    return " · ".join(f"{option_name(option, names)} {n}" for option, n in counts.items())


def _course(reveal: Reveal) -> str:
    """Return who was ahead round by round; an option that no one chose is left out."""
    said = []
    for one in reveal.course:
        chosen = [(option, n) for option, n in one.counts.items() if n]
        counts = say(", ").join(f"{option_name(option, reveal.names)} {n}" for option, n in chosen)
        said.append(say(AFTER_ROUND, round=round_name(one.round), counts=counts))
    return say(AHEAD, rounds=" · ".join(said))


def _human_winner(reveal: Reveal) -> str:
    tally = reveal.tally
    if not any(tally.counts.values()):
        return say(NO_VOTES)
    if tally.winner is None:
        return say(NO_QUORUM)
    if tally.winner == TIE:
        return say(PEOPLE_TIED)
    return say(PEOPLE_CHOSE, winner=sided(tally.winner, {**reveal.stances, **reveal.names}))


def _persuasion(persuasion: Persuasion) -> str:
    moved = persuasion.moved
    return plural(MOVED, persuasion.people, moved=sum(moved.values()), counts=_counts(moved))


def _jury(reveal: Reveal) -> str:
    verdict, names = reveal.verdict, reveal.names
    stance = reveal.stances.get(verdict.winner or "")
    own = (say(JURY_STANCE, stance=headline(stance, BRIEF_STANCE)),) if stance else ()
    said = say(", ").join((*own, *_details(reveal)))
    if verdict.winner is None:
        return say(JURY_NOTHING, problem=say(verdict.problem), detail=said)
    template = JURY_TIED if verdict.winner == TIE else JURY_CHOSE
    return say(template, winner=option_name(verdict.winner, names), detail=said)


def _details(reveal: Reveal) -> Iterator[str]:
    verdict = reveal.verdict
    if verdict.single:
        yield say(SINGLE)
    yield from _chances(verdict, reveal.names)
    if readers := len({line.juror for line in reveal.jurors}):
        yield plural(READERS, readers)
    yield plural(VALID, verdict.valid)
    if verdict.invalid:
        yield say(INVALID, n=verdict.invalid)
    if verdict.effective_votes is not None:
        yield say(EFFECTIVE, n=verdict.effective_votes)
    if verdict.order_alone:
        yield say(ORDER_ALONE)
    if not verdict.blind:
        yield say(NOT_BLIND)


def _chances(verdict: Verdict, names: Mapping[str, str]) -> Iterator[str]:
    """Yield how sure the jury is of its winner; of many answers and of a tie, every chance."""
    # No jury is ever quite sure.
    chances = {side: min(max(100 * p, 1.0), 99.0) for side, p in verdict.p.items()}
    if len(chances) == 2 and verdict.winner in chances:
        side = verdict.winner
        yield say(SURE, side=option_name(side, names), p=chances[side])
    else:
        yield from (say(CHANCE, side=option_name(s, names), p=p) for s, p in chances.items())


def _scored(criteria: Sequence[Criterion]) -> str:
    """Return what jurors scored, the range once where it is the same for all."""
    ranges = [say(RANGE, low=one.lowest, high=one.highest) for one in criteria]
    if len(set(ranges)) == 1:
        return say(
            SCORED_ALIKE, names=say(", ").join(say(c.name) for c in criteria), range=ranges[0]
        )
    named = (f"{say(one.name)} {range}" for one, range in zip(criteria, ranges, strict=True))
    return say(SCORED, names=say(", ").join(named))


def _jurors(lines: Iterable[JurorLine], names: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each juror: both readings of one that read twice."""
    by_juror: dict[str, list[JurorLine]] = {}
    for line in lines:
        by_juror.setdefault(line.juror, []).append(line)
    for juror, read in by_juror.items():
        readings = say("; ").join(_reading(one, names) for one in read)
        yield say(JUROR, juror=juror, readings=readings) + (say(RECUSED) if read[0].recused else "")


def _reading(line: JurorLine, names: Mapping[str, str]) -> str:
    order = say(", ").join(line.order)
    if names:  # each juror reads them all, from another one on
        order = say(FROM, name=option_name(line.order[0], names))
    if line.verdict is None:
        return say(READING_INVALID, problem=say(line.problem), order=order)
    said = say(READING, verdict=option_name(line.verdict, names), order=order)
    return f"{said}, {say(CONTRADICTORY)}" if line.contradictory else said


def _reconciled(reveal: Reveal) -> Iterator[str]:
    """Yield how the format's own result and the panel's can differ, where they do."""
    own, panel = reveal.own, reveal.verdict
    if own is None or None in (own.winner, panel.winner) or own.winner == panel.winner:
        return
    if template := RECONCILED.get(own.rubric):
        yield ""
        yield say(
            template,
            own=option_name(own.winner or "", reveal.names),
            panel=option_name(panel.winner or "", reveal.names),
        )
