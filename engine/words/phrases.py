"""Words that messages, answers, buttons and forms share, ready for translation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

from engine.values.debate import BallotKind, Quotation, Rehearsal
from engine.values.language import N_, NN_
from engine.values.messages import Estimate
from engine.values.sources import IN_NAMED, IN_NONE, IN_OTHER, PASTED, UNTITLED, outcome_of
from engine.values.text import dollars, headline, marked
from engine.words.translation import number, plural, say

REHEARSALS: Mapping[Rehearsal, str] = {
    "speakers": N_(
        "The speakers are rehearsal models: they recite prepared text and are not language models."
    ),
    "some speakers": N_(
        "A speaker here is a rehearsal model: it recites prepared text and is not a language model."
    ),
    "jury": N_(
        "Rehearsal models sit on the jury. They are not language models, so its verdict is a "
        "placeholder."
    ),
}
DAYS = NN_("{n} day", "{n} days")
HOURS = NN_("{n} hour", "{n} hours")
MINUTES = NN_("{n} minute", "{n} minutes")
FREE = N_("free")
ROUNDS = {
    "assumptions": N_("assumptions"),
    "cross": N_("cross-examination"),
    "draft": N_("draft"),
    "exchange": N_("exchange"),
    "free": N_("free debate"),
    "opening": N_("opening"),
    "questions": N_("questions"),
    "revision": N_("revision"),
    "summary": N_("summary"),
}
OPTIONS = {
    "tie": N_("tie"),
    "weak": N_("neither"),
    "up": N_("for it"),
    "down": N_("against it"),
    "unsure": N_("unsure"),
    "even": N_("even"),
    "onesided": N_("one-sided"),
    "logic": N_("logic"),
    "evidence": N_("evidence"),
    "rebuttal": N_("rebuttal"),
    "style": N_("style"),
    "other": N_("something else"),
    "close": N_("close"),
    "clear": N_("clear"),
}
NO_STANCES: Mapping[str, str] = {}
SIDE_OF_THUMB = {"up": "A", "down": "B"}
BRIEF_STANCE = 60  # characters
HOW_TO_VOTE: Mapping[BallotKind, str] = {
    BallotKind.OPEN: N_("React below. Only your last reaction counts."),
    BallotKind.SECRET: N_("React below. Your vote is recorded and your reaction removed at once."),
    BallotKind.PRIVATE: N_("Press a button. No one else sees your choice."),
}
WAITS_TO_CLOSE = N_(
    "Waiting for {platform}: the votes could not be read, so the vote stays open. "
    "Rostrum retries automatically."
)
LOCKED = N_(
    "A moderator locked the thread. Unlock it, or grant Rostrum Manage Threads, and the debate "
    "goes on."
)
WAITS_TO_POST = N_("Waiting to post: {why}")
WAITS_TO_REACT = N_("Reactions to vote with are missing: {why}")
NEEDS = "Needs a worker that has "
VOTE_DELETED = N_(
    "The message to vote on was deleted, so no one can vote any more. The votes it had count when "
    "the vote closes, together with that on its mirror."
)
CLOSES_ONCE_READ = N_(
    "The vote closes as soon as {platform} can be read. Rostrum retries automatically."
)
WAITS_TO_BEGIN = N_(
    "Waiting for {platform}: the first stances could not be read. Rostrum retries automatically."
)
WAITS_TO_HEAR = N_(
    "Waiting for {platform}: what was written for this turn could not be read. "
    "Rostrum retries automatically."
)
WAITS_TO_CHECK = N_(
    "Waiting for the automatic check for harmful content, which does not answer. "
    "Rostrum retries automatically."
)
TOPIC_HINT = N_("A motion to argue for and against")


def option_name(option: str, stances: Mapping[str, str] = NO_STANCES, *, bare: bool = False) -> str:
    """Return the display name of a ballot option, with the stance that it is for.

    Where agents answer a question, `stances` holds their names instead. `bare`: A and B stand
    without their marks, as the emoji is beside them.
    """
    if any(side.isdigit() for side in stances):
        return stances.get(option) or (
            say("none is good") if option == "weak" else say(OPTIONS.get(option, option))
        )
    shown = option if bare else marked(option)
    if option in stances:
        return say("{side}: {stance}", side=shown, stance=stances[option])
    side = SIDE_OF_THUMB.get(option, "")
    return stances.get(side) or say(OPTIONS.get(option, shown))


def captioned(sides: Collection[str], given: Mapping[str, str]) -> Mapping[str, str]:
    """Return what each side stands for: what is `given`, or for and against."""
    if given or set(sides) != {"A", "B"}:
        return given
    return {side: say(OPTIONS[thumb]) for thumb, side in SIDE_OF_THUMB.items()}


def sided(side: str, stances: Mapping[str, str]) -> str:
    """Return a side in bold, with a few words of its stance."""
    bold = f"**{stances.get(side, side) if side.isdigit() else marked(side)}**"
    if side not in stances or side.isdigit():
        return bold
    return say("{side} ({stance})", side=bold, stance=headline(stances[side], BRIEF_STANCE))


def rehearsed(who: Rehearsal) -> str:
    """Return a note on which participants are rehearsal models."""
    return say("🎭 **Rehearsal:** {who}", who=say(REHEARSALS[who]))


def estimated(estimate: Estimate) -> str:
    """Return how long a debate is expected to take, and its cost."""
    cost = money(estimate.usd)
    if estimate.usd:
        cost = say("≈ {cost}", cost=cost)
    takes = say("Takes {span}", span=about_minutes(estimate.minutes))
    return f"{sentence_case(takes)} · {cost}"


def to_read(minutes: float) -> str:
    """Return how long a debate takes to read; at least a minute."""
    return plural("about {n} minute to read", "about {n} minutes to read", max(1, round(minutes)))


def about_minutes(minutes: float) -> str:
    """Return a duration, rounded: to the minute, from three hours to the hour, then to the day."""
    if minutes < 1:
        return say("less than a minute")
    unit = 1440 if minutes >= 2880 else 60 if minutes >= 180 else 1
    return say("about {span}", span=lasting(round(minutes / unit) * unit))


def lasting(minutes: float) -> str:
    """Return a set time as people say it: “30 seconds”, “90 minutes”, “2 days 5 hours”."""
    seconds = max(1, round(minutes * 60))
    if seconds < 60 or (seconds < 300 and seconds % 60):
        return plural("{n} second", "{n} seconds", seconds)
    whole = round(seconds / 60)
    if whole < 60 or (whole < 120 and whole % 60):
        return plural(*MINUTES, whole)
    if whole < 2880:
        return _span((*HOURS, whole // 60), (*MINUTES, whole % 60))
    hours = round(whole / 60)
    return _span((*DAYS, hours // 24), (*HOURS, hours % 24))


def _span(first: tuple[str, str, int], second: tuple[str, str, int]) -> str:
    """Return a duration in two units; the second may be 0."""
    larger, smaller = plural(*first), plural(*second)
    return say("{first} {second}", first=larger, second=smaller) if second[2] else larger


def money(usd: float | None) -> str:
    """Return a cost in the one way that people read it; nothing to pay is free."""
    if usd is None:
        return say("cost unknown")
    if not usd:
        return say(FREE)
    _, _, cents = dollars(usd).partition(".")
    return say("${amount}", amount=number(usd, f".{len(cents)}f"))


def round_name(name: str) -> str:
    """Return a round as people read it: `free-3` is “free debate 3”."""
    base, dash, number = name.rpartition("-")
    if not dash or not number.isdecimal():
        return say(ROUNDS.get(name, name))
    return say("{round} {number}", round=say(ROUNDS.get(base, base)), number=number)


def round_names(names: Sequence[str]) -> str:
    """Return rounds in order, numbered ones together: “draft, revision 1–2”."""
    told = []
    for base, group in groupby(names, lambda name: name.rstrip("0123456789")):
        run = list(group)
        last = run[-1].rpartition("-")[2]
        span = f"–{last}" if len(run) > 1 and base.endswith("-") else ""
        told.append(f"{round_name(run[0])}{span}")
    return say(", ").join(told)


def source_name(number: int, title: str = "") -> str:
    """Return what people call a source, by its number from 1, with its title if one is given."""
    if not title:
        return say("Source {number}", number=number)
    shown = say(title) if title in (PASTED, UNTITLED) else title
    return say("Source {number}: {title}", number=number, title=shown)


def sum_up(quotations: Sequence[Quotation]) -> str:
    """Return a line on a turn's quotations, such as “Quotations: 2 found, 1 not in Source 2”."""
    outcomes = Counter(map(outcome_of, quotations))
    missing = Counter(one.source for one in quotations if outcome_of(one) == IN_NONE)
    parts = [
        *([say("{n} found", n=outcomes[IN_NAMED])] if outcomes[IN_NAMED] else []),
        *(
            [say("{n} in another source than named", n=outcomes[IN_OTHER])]
            if outcomes[IN_OTHER]
            else []
        ),
        *(
            say("{n} not in {source}", n=n, source=source_name(at))
            for at, n in sorted(missing.items())
        ),
    ]
    return say("Quotations: {found}", found=say(", ").join(parts)) if parts else ""


def sentence_case(text: str) -> str:
    """Return a text with a capital at its beginning."""
    return text[:1].upper() + text[1:]
