"""Ratings with everything else equal: side, last word and length as covariates; pure.

The fit is that of the leaderboard, with the covariates of each debate in the lead (see
engine/stats/likelihood.py), so that a model is not rated by its seats or by how much it said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from math import log2

from engine.stats.bradley_terry import StrengthFit, fit_matchups, fit_strengths, told_apart
from engine.stats.contests import Matchup, comparable_groups
from engine.stats.ratings import Meeting, Rating, contests_of, in_points, meetings, ratings_of
from engine.stats.row import Row
from engine.values.debate import Value

EFFECTS = ("side", "closer", "length")


class Unknown(StrEnum):
    """Why an effect has no estimate."""

    UNSEEN = "unseen"
    CONFOUNDED = "confounded"
    UNBOUNDED = "unbounded"
    UNRATED = "unrated"


class Effect(Value):
    """What moves results beside strength: points of lead, with 95 % bounds.

    The values are None if there is no estimate, and `missing` says why.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    missing: Unknown | None = None


class AdjustedRatings(Value):
    """The ratings by one judge with everything else equal, the best first.

    `side` is the advantage of side A, `closer` that of speaking last, `length` that of having said
    twice as many words as the other.
    """

    side: Effect
    closer: Effect
    length: Effect
    ratings: Mapping[str, Rating]


class AdjustedLeaderboard(Value):
    """The adjusted ratings by people and by the jury."""

    people: AdjustedRatings
    jury: AdjustedRatings


def adjust_models(rows: Sequence[Row]) -> AdjustedLeaderboard:
    """Rate every model with everything else equal; each debate counts once."""
    rows = [row for row in rows if not row.mixed]
    return AdjustedLeaderboard(
        people=adjust(rows, lambda row: row.people), jury=adjust(rows, lambda row: row.jury)
    )


def adjust(rows: Sequence[Row], winner: Callable[[Row], str | None]) -> AdjustedRatings:
    """Rate models by the winners of debates, with every effect that has an estimate.

    The models are those that the leaderboard rates. An effect is left out if no debate shows it, if
    it cannot be told from those before it, or if its most likely value is infinite.
    """
    contests = contests_of(rows, winner)
    group = next(iter(comparable_groups(contests)), ())
    fit = fit_strengths(contests.among(group)) if len(group) > 1 else None
    effects = {name: Effect(missing=Unknown.UNRATED) for name in EFFECTS}
    if fit is not None:
        held = [
            one
            for one in meetings(rows, winner)
            if {one.row.models[one.first], one.row.models[one.second]} <= set(group)
        ]
        fit, effects = _fit_effects(fit, held)
    rated = ratings_of(contests, group, fit)
    return AdjustedRatings(**effects, ratings=dict(sorted(rated.items(), key=_rank)))


def _fit_effects(
    fit: StrengthFit, held: Sequence[Meeting]
) -> tuple[StrengthFit, dict[str, Effect]]:
    """Add one effect after the other to a fit."""
    chosen: list[str] = []
    missing: dict[str, Effect] = {}
    for name in EFFECTS:
        matchups = _matchups(held, [*chosen, name])
        found = fit_matchups(matchups)
        if found is not None:
            fit, chosen = found, [*chosen, name]
        elif not any(one.edges[-1] for one in matchups):
            missing[name] = Effect(missing=Unknown.UNSEEN)
        else:
            missing[name] = Effect(missing=_why(matchups))
    known = zip(chosen, fit.effects, strict=True)
    return fit, missing | {name: Effect(**in_points(one)) for name, one in known}


def _why(matchups: Sequence[Matchup]) -> Unknown:
    return Unknown.UNBOUNDED if told_apart(matchups) else Unknown.CONFOUNDED


def _matchups(held: Iterable[Meeting], names: Sequence[str]) -> list[Matchup]:
    """Return the results between models, those with equal covariates together."""
    counts: Counter[tuple[str, str, tuple[float, ...], bool]] = Counter()
    for one in held:
        edges = tuple(_edge(one, name) for name in names)
        counts[one.row.models[one.first], one.row.models[one.second], edges, one.tied] += 1
    return [
        Matchup(first, second, 0 if tied else n, 0, n if tied else 0, edges)
        for (first, second, edges, tied), n in sorted(counts.items())
    ]


def _edge(meeting: Meeting, name: str) -> float:
    """Return a covariate of the first side's lead; 0 where a debate does not show it."""
    row, first, second = meeting.row, meeting.first, meeting.second
    if name == "length":
        said, other = row.words.get(first, 0), row.words.get(second, 0)
        return log2(said / other) if said and other else 0.0
    if len(row.models) != 2:
        return 0.0
    favoured = next(iter(row.models)) if name == "side" else row.closer
    return float(favoured == first) - float(favoured == second)


def _rank(entry: tuple[str, Rating]) -> tuple[bool, float, str]:
    model, rating = entry
    return rating.value is None, -(rating.value or 0.0), model
