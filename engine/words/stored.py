"""What was stored, in the language spoken: shares, times, languages, rules that a turn broke."""

from __future__ import annotations

from datetime import datetime

from engine.values.debate import Violation
from engine.values.language import N_
from engine.words.translation import LANGUAGES, locale_of, primary, say


def percent(share: float) -> str:
    """Return a share in per cent, as the language spoken writes it."""
    language = primary()
    if language not in LANGUAGES:
        return f"{share:.0%}".replace("%", " %")
    from babel.numbers import format_percent

    return format_percent(share, locale=locale_of(language))


def moment(when: datetime) -> str:
    """Return a date and time in UTC, as the language spoken writes it."""
    language = primary()
    if language not in LANGUAGES:
        return f"{when:%Y-%m-%d %H:%M} UTC"
    from babel.dates import format_time

    return f"{day(when)} {format_time(when, 'short', locale=locale_of(language))} UTC"


def day(when: datetime) -> str:
    """Return a date, as the language spoken writes it."""
    language = primary()
    if language not in LANGUAGES:
        return f"{when:%Y-%m-%d}"
    from babel.dates import format_date

    return format_date(when, "medium", locale=locale_of(language))


def called_language(code: str) -> str:
    """Return what the language spoken calls another; empty in English, or if it has no name."""
    if primary() not in LANGUAGES:
        return ""
    named: str | None = locale_of(primary()).languages.get(code.split("-")[0].lower())
    return named or ""


VIOLATIONS = {
    "too_many_words": N_("{measured:g} words; the limit is {limit:g}"),
    "too_few_words": N_("{measured:g} words; at least {limit:g} are needed"),
    "too_many_arguments": N_("{measured:g} arguments; the limit is {limit:g}"),
    "long_synthesis": N_("a synthesis of {measured:g} characters; the limit is {limit:g}"),
    "long_decision": N_("a decision of {measured:g} words; the limit is {limit:g}"),
    "no_decision": N_("no decision that can be read"),
    "long_reply": N_("a reply of {measured:,.0f} characters, cut to {limit:,.0f}"),
    "cut_off": N_("it breaks off: the model ran out of room"),
    "repeats": N_("it says one sentence {measured:g} times"),
    "cut": N_(
        "{measured:g} words, cut after {limit:g}: the rest of the time is for those who have "
        "not spoken"
    ),
    "overtime": N_("{measured:g} words; the time allows {limit:g}"),
    "shortened": N_("{measured:g} words, cut after {limit:g}"),
    "missed": N_("nothing was written in time"),
    "blocked": N_("what was written has a word that is not allowed here"),
    "flagged": N_("the automatic check for harmful content flagged what was written"),
    "replaced_characters": N_("characters that cannot be shown ({measured:g})"),
    "refusal": N_("the model declined to argue"),
    "unreadable": N_("not in the requested form"),
    "too_few_arguments": N_("{measured:g} arguments; at least {limit:g} are needed"),
    "short_claim": N_("a claim of {measured:g} characters; at least {limit:g} are needed"),
    "short_reasoning": N_("reasoning of {measured:g} characters; at least {limit:g} are needed"),
    "short_evidence": N_("evidence of {measured:g} characters; at least {limit:g} are needed"),
}


def broken_rule(broken: Violation) -> str:
    """Return the rule that a turn broke, with the measured value and the limit."""
    other = (
        N_("{kind} ({measured:g}, at most {limit:g})") if broken.limit else "{kind} ({measured:g})"
    )
    kind = broken.kind.replace("_", " ")
    template = VIOLATIONS.get(broken.kind, other)
    return say(template, kind=say(kind), measured=broken.measured, limit=broken.limit)
