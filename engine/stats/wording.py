"""The wording of statistics, for chats, terminals and pictures."""

from __future__ import annotations

from collections.abc import Callable

from engine.stats.adjusted import Effect, Unknown
from engine.stats.figure import Figure
from engine.stats.ratings import Missing, Rating
from engine.words.translation import number, percent, say

TOO_FEW = "too few ({n})"
UNDEFINED = "undefined (always the same)"
RANGE = "{value} ({low} to {high})"
MISSING = {
    Missing.NEVER_LOST: "never lost to a rated model, even indirectly",
    Missing.NEVER_WON: "never beat a rated model, even indirectly",
    Missing.APART: "no debates link it to the rated models",
    Missing.NO_CYCLE: "no two models have beaten each other, even indirectly",
    Missing.ONLY_TIES: "all debates were ties",
}
NOT_JUDGED = "not judged"
UNKNOWN = {
    Unknown.UNSEEN: "no debate shows it",
    Unknown.CONFOUNDED: "cannot be told apart",
    Unknown.UNBOUNDED: "too few debates",
    Unknown.UNRATED: "no model is rated",
}


def word_share(figure: Figure) -> str:
    """Write a share in per cent, with its interval."""
    return _tell(figure, percent)


def word_coefficient(figure: Figure) -> str:
    """Write κ, α or a score, with its interval."""
    return _tell(figure, lambda value: _signed(value, ".2f"))


def word_points(figure: Figure) -> str:
    """Write a difference of two shares in percentage points, with its interval."""
    return _tell(figure, lambda value: _signed(100 * value, "+.1f"))


def word_rating(rating: Rating | None) -> str:
    """Write a rating with its interval, or why there is none."""
    if rating is None:
        return say(NOT_JUDGED)
    if rating.value is None or rating.low is None or rating.high is None:
        return say(MISSING[rating.missing or Missing.APART])
    return say(
        RANGE,
        value=number(rating.value, ".0f"),
        low=_signed(rating.low, ".0f"),
        high=number(rating.high, ".0f"),
    )


def word_effect(effect: Effect) -> str:
    """Write an effect in points with its interval, or why there is none."""
    if effect.value is None or effect.low is None or effect.high is None:
        return say(UNKNOWN[effect.missing or Unknown.UNRATED])
    value, low, high = (_signed(one, "+.0f") for one in (effect.value, effect.low, effect.high))
    return say(RANGE, value=value, low=low, high=high)


def word_record(rating: Rating | None) -> str:
    """Write wins, losses and ties."""
    return f"{rating.won}–{rating.lost}–{rating.tied}" if rating else ""


def _tell(figure: Figure, write: Callable[[float], str]) -> str:
    if figure.few:
        return say(TOO_FEW, n=figure.n)
    if figure.value is None:
        return say(UNDEFINED)
    if figure.low is None or figure.high is None:
        return write(figure.value)
    value, low, high = map(write, (figure.value, figure.low, figure.high))
    return say(RANGE, value=value, low=low, high=high)


def _signed(value: float, spec: str) -> str:
    """Use a real minus sign, and none before zero."""
    text = number(value, spec)
    return text.lstrip("-+") if not text.strip("-+0.,") else text.replace("-", "−")
