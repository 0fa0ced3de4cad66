"""Words that messages, answers, buttons and forms share, ready for translation."""

from __future__ import annotations

from collections.abc import Mapping

from engine.debate import BallotKind, Rehearsal
from engine.messages import Estimate
from engine.text import headline

REHEARSALS: Mapping[Rehearsal, str] = {
    "speakers": "The speakers are rehearsal models: they recite prepared text and are not language "
    "models.",
    "some speakers": "A speaker here is a rehearsal model: it recites prepared text and is not a "
    "language model.",
    "jury": "Rehearsal models sit on the jury. They are not language models, so its verdict is a "
    "placeholder.",
}
REHEARSAL = "🎭 **Rehearsal:** {who}"
ESTIMATE = "It takes about {calls} model calls (at most {most}), {minutes}, {cost}"
SOON = "less than a minute"
MINUTES = ("about {n} minute", "about {n} minutes")
COST = "{usd:.2f} USD (at most {most:.2f})"
COST_UNKNOWN = "cost unknown"
NONE_GOOD = "none is good"
OPTIONS = {
    "tie": "tie",
    "weak": "both weak",
    "up": "for it",
    "down": "against it",
    "unsure": "unsure",
    "even": "even",
    "onesided": "one-sided",
}
NO_STANCES: Mapping[str, str] = {}
SIDE_OF_THUMB = {"up": "A", "down": "B"}
SIDE_AND_STANCE = "{side}: {stance}"
SIDE_IN_BRACKETS = "{side} ({stance})"
BRIEF_STANCE = 60  # characters
HOW_TO_VOTE: Mapping[BallotKind, str] = {
    BallotKind.OPEN: "React below. Only your last reaction counts.",
    BallotKind.SECRET: "React below. Your vote is recorded and your reaction removed at once.",
    BallotKind.PRIVATE: "Press a button. No one else sees your choice.",
}
FILE_LEFT_OUT = "(File not shown: {name})"
TOPIC_HINT = "A motion to argue for and against"
REVIEW_HINT = "{code}: who debated better?"
REVIEW_HINT_ANSWERS = "{code}: which final answer is best?"
COMMAND_BUG = (
    "That is a bug in Rostrum; the details are in its log. Please let the people who run it know."
)


def plural(forms: tuple[str, str], n: float, **more: object) -> str:
    """Fill in the singular or the plural form."""
    return forms[n != 1].format(n=f"{n:g}", **more)


def option_name(option: str, stances: Mapping[str, str] = NO_STANCES) -> str:
    """Return the display name of a ballot option, with the stance that it is for.

    Where agents answer a question, `stances` holds their names instead.
    """
    if any(side.isdigit() for side in stances):
        return stances.get(option) or (
            NONE_GOOD if option == "weak" else OPTIONS.get(option, option)
        )
    if option in stances:
        return SIDE_AND_STANCE.format(side=option, stance=stances[option])
    side = SIDE_OF_THUMB.get(option, "")
    return stances.get(side) or OPTIONS.get(option, option)


def sided(side: str, stances: Mapping[str, str]) -> str:
    """Return a side in bold, with a few words of its stance."""
    bold = f"**{stances.get(side, side) if side.isdigit() else side}**"
    if side not in stances or side.isdigit():
        return bold
    return SIDE_IN_BRACKETS.format(side=bold, stance=headline(stances[side], BRIEF_STANCE))


def review_hint(code: str, names: Mapping[str, str]) -> str:
    """Return what a menu asks of a revealed debate; `names` are those of agents who answered."""
    return (REVIEW_HINT_ANSWERS if names else REVIEW_HINT).format(code=code)


def rehearsed(who: Rehearsal) -> str:
    """Return a note on which participants are rehearsal models."""
    return REHEARSAL.format(who=REHEARSALS[who])


def estimated(estimate: Estimate) -> str:
    """Return the expected calls, time and cost of a debate."""
    cost = COST_UNKNOWN
    if estimate.usd is not None and estimate.usd_max is not None:
        cost = COST.format(usd=estimate.usd, most=estimate.usd_max)
    minutes = about_minutes(estimate.minutes)
    return ESTIMATE.format(
        calls=estimate.calls, most=estimate.calls_max, minutes=minutes, cost=cost
    )


def about_minutes(minutes: float) -> str:
    """Return a duration, rounded to the minute."""
    return SOON if minutes < 1 else plural(MINUTES, round(minutes))
