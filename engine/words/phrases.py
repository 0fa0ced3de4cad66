"""Words that messages, answers, buttons and forms share, ready for translation."""

from __future__ import annotations

from collections.abc import Mapping

from engine.debate import BallotKind, Rehearsal
from engine.messages import Estimate

REHEARSALS: Mapping[Rehearsal, str] = {
    "speakers": "The speakers are rehearsal models: they recite prepared text and are not language "
    "models.",
    "some speakers": "A speaker here is a rehearsal model: it recites prepared text and is not a "
    "language model.",
    "jury": "The jury has rehearsal models, which are not language models: its verdict is a "
    "stand-in.",
}
REHEARSAL = "🎭 **Rehearsal:** {who}"
ESTIMATE = "It takes about {calls} model calls (at most {most}), {minutes}, {cost}"
SOON = "less than a minute"
MINUTES = ("about {n} minute", "about {n} minutes")
COST = "{usd:.2f} USD (at most {most:.2f})"
COST_UNKNOWN = "at a cost that nobody knows"
OPTIONS = {
    "tie": "tie",
    "weak": "both weak",
    "up": "for it",
    "down": "against it",
    "unsure": "unsure",
}
HOW_TO_VOTE: Mapping[BallotKind, str] = {
    BallotKind.OPEN: "React below; of several reactions the last one counts.",
    BallotKind.SECRET: "React below: your vote is recorded and its reaction taken away at once.",
    BallotKind.PRIVATE: "Press a button; nobody else sees what you chose.",
}
FILE_LEFT_OUT = "(The file {name} is left out.)"
TOPIC_HINT = "A motion to argue for and against"
REVIEW_HINT = "{code}: who debated better?"
DEFECT = "Rostrum itself failed at this; its log says where. Please tell whoever runs it."


def plural(forms: tuple[str, str], n: float, **more: object) -> str:
    """Fill in the singular or the plural form."""
    return forms[n != 1].format(n=f"{n:g}", **more)


def option_name(option: str) -> str:
    """Return how people read an option of a ballot."""
    return OPTIONS.get(option, option)


def rehearsed(who: Rehearsal) -> str:
    """Say who of a debate are rehearsal models."""
    return REHEARSAL.format(who=REHEARSALS[who])


def estimated(estimate: Estimate) -> str:
    """Say what a debate is expected to take."""
    cost = COST_UNKNOWN
    if estimate.usd is not None and estimate.usd_max is not None:
        cost = COST.format(usd=estimate.usd, most=estimate.usd_max)
    minutes = about_minutes(estimate.minutes)
    return ESTIMATE.format(
        calls=estimate.calls, most=estimate.calls_max, minutes=minutes, cost=cost
    )


def about_minutes(minutes: float) -> str:
    """Say how long something takes, to the minute."""
    return SOON if minutes < 1 else plural(MINUTES, round(minutes))
