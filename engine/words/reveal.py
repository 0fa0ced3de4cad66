"""The wording of a reveal: who won, who was who, and why; Markdown for any chat.

Its numbers are in details.py, and what each juror wrote is in reasons.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice

from engine.values.debate import SOMEBODY
from engine.values.language import N_, NN_
from engine.values.messages import JurorLine, Reveal
from engine.values.text import headline
from engine.values.verdicts import TIE, Rationale, Verdict
from engine.words.details import counts_of, judges_line, lacks_readings, readings_of
from engine.words.phrases import BRIEF_STANCE, captioned, option_name, rehearsed, round_name, sided
from engine.words.translation import plural, say

ASIDE = {
    "channel": N_("This debate's thread takes no messages, so the result is shown here."),
    "starter": N_(
        "The result cannot be posted where this debate ran. You started it, so you get the "
        "result here."
    ),
}
GUESSED = NN_("{right} of {n} voter guessed it", "{right} of {n} voters guessed it")
GUESSED_BY_ONE = {0: N_("the only guess was wrong"), 1: N_("the only guess was right")}
NOT_DECIDED = N_("no winner ({counts})")
VERY_SURE, SURE, FAIRLY_SURE, UNSURE = (
    N_("very sure"),
    N_("sure"),
    N_("fairly sure"),
    N_("by a narrow margin"),
)
SURE_FROM = {0.9: VERY_SURE, 0.75: SURE, 0.6: FAIRLY_SURE}
AGREE = {True: N_("People and jury **agree**."), False: N_("People and jury **disagree**.")}
UNREAD = N_(
    "The reactions could not be read before the vote closed. The counts are the last known ones, "
    "so no one is declared the people's winner."
)
WHY = N_("**Why the jury decided so:** {text}")
QUOTED = N_("**Why the jury decided so**, in a juror's words: “{text}”")
RECONCILED = {
    "convergence": N_(
        "The table's own result: **{own}**. The jury's: **{panel}**. The table's is the "
        "answer that shares most words with the others; the jury judged which answer is best."
    ),
    "answers": N_(
        "The table's own judges: **{own}**. The jury: **{panel}**. Both marked the same "
        "final answers, but they are different readers, and their marks are weighed differently."
    ),
}


def reveal_lines(reveal: Reveal) -> Iterator[str]:
    """Yield what everyone reads of a reveal: who won, who was who, and why."""
    yield outcome_line(reveal)
    if reveal.agree is not None:
        yield say(AGREE[reveal.agree])
    yield from _course_lines(reveal)
    yield ""
    yield from _who_was_who(reveal)
    if reveal.why is not None and reveal.why.text:
        yield ""
        yield from why_lines(reveal.why, reveal.names)
    yield from _reconciled(reveal)
    yield from _in_short(reveal)


def background_lines(reveal: Reveal, *, why: bool) -> Iterator[str]:
    """Yield what a page's head leaves out of a result; `why`: also the sentence that says it."""
    yield from _course_lines(reveal)
    yield from judges_line(reveal)
    yield from _stood_in(reveal)
    if reveal.why is not None and reveal.why.text:
        yield ""
        yield from islice(why_lines(reveal.why, reveal.names), 0 if why else 1, None)
    yield from _reconciled(reveal)
    yield from _in_short(reveal)


def _course_lines(reveal: Reveal) -> Iterator[str]:
    """Yield what people said on the way, and what was wrong with their votes."""
    if reveal.unread:
        yield say(UNREAD)
    elif reveal.gaps:
        yield plural(
            "{n} message may be missing from the debate's thread, so the vote has no winner.",
            "{n} messages may be missing from the debate's thread, so the vote has no winner.",
            reveal.gaps,
        )
    if reveal.course:
        yield _course(reveal)
    if reveal.persuasion is not None and reveal.persuasion.people:
        moved = reveal.persuasion.moved
        yield (
            plural(
                "{moved} of {n} person changed sides: {counts} (stances before and after).",
                "{moved} of {n} people changed sides: {counts} (stances before and after).",
                reveal.persuasion.people,
                moved=sum(moved.values()),
                counts=counts_of(moved),
            )
        )


def _in_short(reveal: Reveal) -> Iterator[str]:
    summary = reveal.verdict.summary
    if summary is not None and summary.text:
        yield ""
        said = (
            N_("**In short** (shortened)**:** {text}")
            if summary.fit in ("trimmed", "cut")
            else N_("**In short:** {text}")
        )
        yield say(said, text=summary.text)


def outcome_line(reveal: Reveal) -> str:
    """Return who won with people and with the jury."""
    return f"{people_line(reveal)} · {jury_line(reveal)}"


def people_line(reveal: Reveal) -> str:
    """Return who won with people."""
    return say("People: {outcome}", outcome=_people(reveal))


def jury_line(reveal: Reveal) -> str:
    """Return who won with the jury."""
    return say("Jury: {outcome}", outcome=_jury(reveal))


def own_line(reveal: Reveal) -> str:
    """Return who won by the format's own rules, and whether the jury agrees; empty without them."""
    own, panel = reveal.own, reveal.verdict
    if own is None:
        return ""
    winner = say("no verdict") if own.winner is None else _winner(own.winner, reveal)
    if own.rubric == "stance":  # what people think of the topic now, which no jury judges
        return say("Changed minds: **{winner}**", winner=winner)
    if own.winner is None or panel.winner is None:
        return say("The format's own judge: **{winner}**", winner=winner)
    if own.winner == panel.winner:
        return say("The format's own judge: **{winner}**, as the jury", winner=winner)
    return say("The format's own judge: **{winner}**, unlike the jury", winner=winner)


def captions_of(reveal: Reveal) -> dict[str, str]:
    """Return what each side stands for in its own words, or its name at a table."""
    return {**reveal.stances, **reveal.names}


def stood_for(reveal: Reveal) -> Mapping[str, str]:
    """Return what each side stood for, also where that is no more than for and against."""
    return captioned(reveal.models, captions_of(reveal))


def why_lines(why: Rationale, names: Mapping[str, str]) -> Iterator[str]:
    """Yield why the jury decided so: a sentence, the best points, and where jurors differed."""
    yield say(QUOTED if why.quoted else WHY, text=why.text)
    for side, text in why.best.items():
        yield say("- Best point of **{side}**: {text}", side=option_name(side, names), text=text)
    if why.differed:
        yield say("- Where jurors differed: {text}", text=why.differed)


def _people(reveal: Reveal) -> str:
    tally = reveal.tally
    if not any(tally.counts.values()):
        return say("no votes")
    if reveal.opinion in reveal.models and not (reveal.gaps or reveal.unread):
        counts = _counted(reveal, _ranked(reveal, reveal.opinion))
        return say(
            "**{winner}** ({counts}), knowing the models",
            winner=_winner(reveal.opinion, reveal),
            counts=counts,
        )
    if reveal.opinion:
        return say(NOT_DECIDED, counts=_counted(reveal))
    if tally.winner is None or reveal.unread:
        said = NOT_DECIDED if reveal.gaps or reveal.unread else _too_few(reveal)
        return say(said, counts=_counted(reveal), n=reveal.quorum)
    if tally.winner == TIE:
        return say("**a tie** ({counts})", counts=_counted(reveal, tuple(reveal.models)))
    first = tally.winner
    counts = _counted(reveal, _ranked(reveal, first))
    return say("**{winner}** ({counts})", winner=_winner(first, reveal), counts=counts)


def _ranked(reveal: Reveal, first: str) -> tuple[str, ...]:
    return (first, *(side for side in reveal.models if side != first))


def _too_few(reveal: Reveal) -> str:
    """Return how to say that the votes decide nothing: only independent ones do."""
    tally = reveal.tally
    if sum(tally.counts.values()) < reveal.quorum:
        return N_("too few votes ({counts}), needs {n}")
    return (
        N_("too few independent votes ({counts}), needs {n}")
        if any(tally.gold.values())
        else N_("no winner ({counts}), as none of these votes was independent")
    )


def _winner(side: str, reveal: Reveal) -> str:
    """Return a winner's name, with a few words of its stance."""
    captions = captions_of(reveal)
    return headline(option_name(side, captions), BRIEF_STANCE)


def _counted(reveal: Reveal, sides: tuple[str, ...] = ()) -> str:
    """Return the counts that decide, and apart what they are with the other votes.

    Those of two `sides` are a score in their order.
    """
    tally = reveal.tally
    counts = _score(reveal, tally.deciding, sides)
    if not tally.others:
        return counts
    both = _score(reveal, tally.counts, sides)
    return plural(
        "{counts}; with {n} vote that is not independent {all}",
        "{counts}; with {n} votes that are not independent {all}",
        tally.others,
        counts=counts,
        all=both,
    )


def _score(reveal: Reveal, counts: Mapping[str, int], sides: tuple[str, ...]) -> str:
    """Return the votes for both sides, in an order, and other votes by name: `4–2 · tie 1`."""
    if len(sides) != 2:
        return counts_of({option: n for option, n in counts.items() if n}, reveal.names)
    first, second = (counts.get(side, 0) for side in sides)
    others = {option: n for option, n in counts.items() if n and option not in sides}
    score = say("{first}–{second}", first=first, second=second)
    return f"{score} · {counts_of(others, reveal.names)}" if others else score


def _jury(reveal: Reveal) -> str:
    verdict = reveal.verdict
    if lacks_readings(reveal):
        return say(
            "no verdict yet (readings: {counts}; six have to agree)", counts=readings_of(reveal)
        )
    if verdict.readings:
        return say("no verdict yet (readings: {counts})", counts=readings_of(reveal))
    if verdict.winner is None:
        return say("no verdict")
    if verdict.winner == TIE:
        return say("**a tie**")
    winner, sure = _winner(verdict.winner, reveal), say(_sureness(verdict))
    choices = [choice for choice in _choices(reveal.jurors) if choice]
    at_odds = len({line.juror for line in reveal.jurors if line.contradictory and not line.recused})
    if not choices:
        return say("**{winner}**, {sure}", winner=winner, sure=sure)
    counts = Counter(choices)
    n = counts[verdict.winner]
    if n == len(choices) and not at_odds:
        return say("**{winner}**, {sure} ({n} of {of})", winner=winner, sure=sure, n=n, of=n)
    options = [option for option in (*reveal.models, TIE) if counts[option]]
    told = counts_of({option: counts[option] for option in options}, reveal.names)
    if at_odds:
        told = plural(
            "{counts}; {n} contradicts itself",
            "{counts}; {n} contradict themselves",
            at_odds,
            counts=told,
        )
    return say("**{winner}**, {sure} ({counts})", winner=winner, sure=sure, counts=told)


def _sureness(verdict: Verdict) -> str:
    """Return how sure the jury is of its winner against the next best, in words."""
    winner = verdict.winner or ""
    rival = max((p for side, p in verdict.p.items() if side != winner), default=0.0)
    chance = verdict.p.get(winner, 0.0)
    share = chance / (chance + rival) if chance + rival else 0.0
    return next((said for least, said in SURE_FROM.items() if share >= least), UNSURE)


def _choices(lines: tuple[JurorLine, ...]) -> Iterator[str]:
    """Yield what each juror chose; a tie where its two readings differ, nothing if none counts.

    A verdict that its own scores deny is no choice.
    """
    by_juror: dict[str, set[str]] = {}
    for line in lines:
        if not line.recused:
            chosen = by_juror.setdefault(line.juror, set())
            chosen |= {line.verdict} if line.verdict and not line.contradictory else set()
    for chosen in by_juror.values():
        yield chosen.pop() if len(chosen) == 1 else TIE if chosen else ""


def _who_was_who(reveal: Reveal) -> Iterator[str]:
    captions = stood_for(reveal)
    for side, model in reveal.models.items():
        named = sided(side, captions)
        told = [
            say(
                N_("{side} was `{model}`, drawn at random")
                if side in reveal.drawn
                else model_line(model),
                side=named,
                model=model,
            )
        ]
        if side in reveal.guessed:
            right, n = reveal.guessed[side]
            told.append(say(GUESSED_BY_ONE[right]) if n == 1 else plural(*GUESSED, n, right=right))
        yield " · ".join(told)
    yield from _stood_in(reveal)


def _stood_in(reveal: Reveal) -> Iterator[str]:
    """Yield which models took others' places, or spoke from seats of their own."""
    yield from (
        say("`{was}` became unavailable; `{now}` took its place.", was=was, now=now)
        for was, now in reveal.replaced
    )
    if reveal.rehearsal:
        yield rehearsed(reveal.rehearsal)
    if reveal.seats:
        yield " · ".join(
            say("{seat} `{model}`", seat=seat, model=m) for seat, m in reveal.seats.items()
        )


def _course(reveal: Reveal) -> str:
    """Return who was ahead round by round; an option that no one chose is left out."""
    said = []
    for one in reveal.course:
        chosen = [(option, n) for option, n in one.counts.items() if n]
        counts = say(", ").join(f"{option_name(option, reveal.names)} {n}" for option, n in chosen)
        said.append(say("{round}: {counts}", round=round_name(one.round), counts=counts))
    return say("Ahead after {rounds}", rounds=" · ".join(said))


def _reconciled(reveal: Reveal) -> Iterator[str]:
    """Yield how the format's own result and the panel's can differ, where they do."""
    own, panel = reveal.own, reveal.verdict
    if own is None or None in (own.winner, panel.winner) or own.winner == panel.winner:
        return
    if own.rubric != "stance":  # that is what people think of the topic
        yield ""
        template = RECONCILED.get(
            own.rubric,
            N_(
                "The format's own judge: **{own}**. The jury: **{panel}**. The judge added up "
                "scores for the parts of the debate, by the format's rules; the jury judged which "
                "side argued better as a whole."
            ),
        )
        yield say(
            template,
            own=option_name(own.winner or "", reveal.names),
            panel=option_name(panel.winner or "", reveal.names),
        )


def model_line(model: str) -> str:
    """Return how to say which model a side was."""
    return N_("{side} was a person") if model == SOMEBODY.ref else N_("{side} was `{model}`")
