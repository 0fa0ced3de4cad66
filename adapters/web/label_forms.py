"""What a sheet's form brings, and what it shows when it has to be filled in once more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from engine.chat.answers.voters import read_percent
from engine.labelling.sheet import Sheet, SheetAnswer
from engine.store.labels import MOST_COMMENT
from engine.values.errors import UsageError
from engine.values.language import N_

OPTIONS = ("first", "second", "tie", "weak")
CONFIDENCES = ("close", "clear", "one-sided")
GROUNDS = ("logic", "evidence", "rebuttal", "style", "other")
FIELDS = ("option", "confidence", "ground", "comment", "seconds")
THUMB, UP, DOWN = "thumb-", "up", "down"
MOST_TYPED = 20  # characters of how sure somebody is
LONGEST_SECONDS = 86_400.0

Form = Mapping[str, Any]


class FilledForm(NamedTuple):
    """A sheet's form as it was sent, as a `SheetAnswer` is shown in it."""

    option: str = ""
    confidence: str = ""
    ground: str = ""
    comment: str = ""
    thumbs: Mapping[int, bool] = {}


def is_field(name: str) -> bool:
    """Return whether a field is one of an answer."""
    return name in FIELDS or name.startswith(THUMB)


def filled(form: Form, sheet: Sheet) -> FilledForm:
    """Return a form as it was sent, as far as it has a meaning here."""

    def one_of(name: str, known: tuple[str, ...]) -> str:
        given = form.get(name)
        return given if isinstance(given, str) and given in known else ""

    numbers = (speech.number for one in sheet.rounds for speech in one.speeches)
    thumbs = ((number, form.get(f"{THUMB}{number}")) for number in numbers)
    return FilledForm(
        one_of("option", OPTIONS),
        _typed(form) if sheet.percent else one_of("confidence", CONFIDENCES),
        one_of("ground", GROUNDS),
        _comment(form),
        {number: thumb == UP for number, thumb in thumbs if thumb in (UP, DOWN)},
    )


def read_answer(form: Form, sheet: Sheet) -> SheetAnswer | str:
    """Return a form's answer, or what is wrong with it."""
    given = filled(form, sheet)
    if not given.option:
        return (
            N_("Choose which answer is right; without that there is nothing to store.")
            if sheet.trial
            else N_("Choose who debated better; without that there is nothing to store.")
        )
    try:
        sure = read_percent(given.confidence) if sheet.percent and given.confidence else ""
    except UsageError:
        return N_("How sure you are is a whole number from 0 to 100, such as 70.")
    if len(given.comment) > MOST_COMMENT:
        return N_("Your reason is too long. Shorten it to 2,000 characters.")
    try:
        return SheetAnswer.model_validate(
            {
                "option": given.option,
                "confidence": sure or given.confidence,
                "ground": given.ground,
                "comment": given.comment,
                "thumbs": dict(given.thumbs),
                "seconds": _seconds(form),
            }
        )
    except ValidationError:
        return N_("Your answer could not be read. Check it and send it once more.")


def _typed(form: Form) -> str:
    given = form.get("confidence")
    return given.strip()[:MOST_TYPED] if isinstance(given, str) else ""


def _comment(form: Form) -> str:
    given = form.get("comment")
    # Browsers send a line's end as two characters, and count it as one.
    return given.replace("\r\n", "\n").strip() if isinstance(given, str) else ""


def _seconds(form: Form) -> float | None:
    try:
        seconds = float(form.get("seconds", ""))
    except (TypeError, ValueError):
        return None
    return seconds if math.isfinite(seconds) and 0 < seconds <= LONGEST_SECONDS else None
