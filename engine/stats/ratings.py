"""The leaderboard: models rated by people and by the jury; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import log, log2
from typing import Literal, TypeAlias

from engine.stats.bradley_terry import (
    Contests,
    Matchup,
    StrengthFit,
    comparable_groups,
    fit_matchups,
    fit_strengths,
    reach,
    told_apart,
)
from engine.stats.figure import RANGE, signed
from engine.stats.row import Row
from engine.tally import Z95
from engine.values.debate import Value
from engine.values.language import N_
from engine.values.verdicts import TIE
from engine.words.translation import number, say

MIDDLE = 1000.0
POINTS = 400 / log(10)  # a lead of 400 is odds of ten to one, as in chess


Missing: TypeAlias = Literal["never_lost", "never_won", "apart", "no_cycle", "only_ties"]
"""Why a model has no rating."""


MISSING: Mapping[Missing, str] = {
    "never_lost": N_("never lost to a rated model, even indirectly"),
    "never_won": N_("never beat a rated model, even indirectly"),
    "apart": N_("no debates link it to the rated models"),
    "no_cycle": N_("no two models have beaten each other, even indirectly"),
    "only_ties": N_("all debates were ties"),
}


class Rating(Value):
    """A model's rating by one judge, with its wins, losses and ties against other models.

    Ratings are in points around 1000, with 95 % bounds; 400 more are odds of ten to one. They are
    None if the results do not allow one, and `missing` says why.
    """

    won: int = 0
    lost: int = 0
    tied: int = 0
    value: float | None = None
    low: float | None = None
    high: float | None = None
    missing: Missing | None = None

    @property
    def record(self) -> str:
        """Wins, losses and ties."""
        return f"{self.won}–{self.lost}–{self.tied}"

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            missing = self.missing or "apart"
            return say(MISSING[missing])
        low, high = signed(self.low, ".0f"), number(self.high, ".0f")
        return say(RANGE, value=number(self.value, ".0f"), low=low, high=high)


def word_rating(rating: Rating | None) -> str:
    """Tell a rating, or that there is none."""
    return say("not judged") if rating is None else str(rating)


class ModelRatings(Value):
    """A model's ratings by people and by the jury; None if it was never judged."""

    model: str
    people: Rating | None
    jury: Rating | None


class Leaderboard(Value):
    """Models, the best rated first: by people, else by the jury, else by name.

    `people` and `jury` count the debates judged by each.
    """

    debates: int
    people: int
    jury: int
    standings: tuple[ModelRatings, ...]


Meeting: TypeAlias = tuple[Row, str, str, bool]
"""Two sides of a debate: the first won, or (True) they tied."""


def rank_models(rows: Sequence[Row]) -> Leaderboard:
    """Rate every model; each debate counts once, however many people voted."""
    rows = [row for row in rows if not row.mixed]
    people = rate(contests_of(rows, lambda row: row.people))
    jury = rate(contests_of(rows, lambda row: row.jury))
    standings = [
        ModelRatings(model=model, people=people.get(model), jury=jury.get(model))
        for model in sorted({*people, *jury})
    ]
    return Leaderboard(
        debates=len(rows),
        people=sum(row.people is not None for row in rows),
        jury=sum(row.jury is not None for row in rows),
        standings=tuple(sorted(standings, key=_model_rank)),
    )


def contests_of(rows: Iterable[Row], winner: Callable[[Row], str | None]) -> Contests:
    """Return who won against whom."""
    contests = Contests()
    for row, first, second, tied in meetings(rows, winner):
        if tied:
            contests.add_tie(row.models[first], row.models[second])
        else:
            contests.add_win(row.models[first], row.models[second])
    return contests


def meetings(rows: Iterable[Row], winner: Callable[[Row], str | None]) -> Iterator[Meeting]:
    """Yield the winner of each debate against each other contender.

    A tie among more than two is ignored, as it does not say which of them are equal; so is a model
    against itself.
    """
    for row in rows:
        chosen, tied = winner(row), False
        if chosen == TIE and len(row.models) == 2:
            chosen, tied = next(iter(row.models)), True
        if chosen is not None and chosen in row.models:
            for side, rival in row.models.items():
                if rival != row.models[chosen]:
                    yield row, chosen, side, tied


def rate(contests: Contests) -> dict[str, Rating]:
    """Rate the largest group of comparable models; the others get the reason."""
    group = next(iter(comparable_groups(contests)), ())
    fit = fit_strengths(contests.among(group)) if len(group) > 1 else None
    return ratings_of(contests, group, fit)


def ratings_of(
    contests: Contests, group: Sequence[str], fit: StrengthFit | None
) -> dict[str, Rating]:
    """Return the ratings of a group of models that were fitted; the others get the reason."""
    strengths = fit.strengths if fit else {}
    errors = fit.errors if fit else {}
    rated = {
        model: in_points(strength, errors[model], MIDDLE) for model, strength in strengths.items()
    }
    reasons = _reasons(contests, group, fitted=fit is not None)
    return {
        model: (
            Rating(
                won=sum(n for (winner, _), n in contests.wins.items() if winner == model),
                lost=sum(n for (_, loser), n in contests.wins.items() if loser == model),
                tied=sum(n for pair, n in contests.ties.items() if model in pair),
            )
        ).model_copy(update=rated.get(model) or {"missing": reasons[model]})
        for model in contests.models
    }


def in_points(strength: float, error: float, middle: float = 0.0) -> dict[str, float]:
    """Return an estimate in log odds in points, with its 95 % bounds."""
    value, margin = middle + POINTS * strength, POINTS * Z95 * error
    return {"value": value, "low": value - margin, "high": value + margin}


def _model_rank(standing: ModelRatings) -> tuple[bool, float, bool, float, str]:
    people = standing.people.value if standing.people else None
    jury = standing.jury.value if standing.jury else None
    return (people is None, -(people or 0.0), jury is None, -(jury or 0.0), standing.model)


def _reasons(contests: Contests, group: Sequence[str], *, fitted: bool) -> Mapping[str, Missing]:
    """Return why each model has no rating."""
    beaten = contests.beaten()
    reasons: dict[str, Missing] = {}
    for model in contests.models:
        if not fitted:
            reasons[model] = "no_cycle" if contests.wins else "only_ties"
        elif group[0] in reach(beaten, model):
            reasons[model] = "never_lost"
        elif model in reach(beaten, group[0]):
            reasons[model] = "never_won"
        else:
            reasons[model] = "apart"
    return reasons


# Ratings with everything else equal: side, last word and length as covariates; pure.
#
# The fit is that of the leaderboard, with the covariates of each debate in the lead (see
# engine/stats/bradley_terry.py), so that a model is not rated by its seats or by how much it said.


# A standard error of an effect in log-odds: beyond, its 95 % bounds lie over a thousandfold in odds
# either way, which says nothing about a debate.
LEAST_SURE = 3.5
EFFECTS = {"side": "side A", "closer": "speaking last", "length": "twice as many words"}


Unknown: TypeAlias = Literal["unseen", "confounded", "unbounded", "unrated"]
"""Why an effect has no estimate."""


UNKNOWN: Mapping[Unknown, str] = {
    "unseen": N_("no debate shows it"),
    "confounded": N_("cannot be told apart"),
    "unbounded": N_("too few debates"),
    "unrated": N_("no model is rated"),
}


class Effect(Value):
    """What moves results beside strength: points of lead, with 95 % bounds.

    The values are None if there is no estimate, and `missing` says why.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    missing: Unknown | None = None

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            missing = self.missing or "unrated"
            return say(UNKNOWN[missing])
        value, low, high = (signed(one, "+.0f") for one in (self.value, self.low, self.high))
        return say(RANGE, value=value, low=low, high=high)


class _AdjustedRatings(Value):
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

    people: _AdjustedRatings
    jury: _AdjustedRatings


def adjust_models(rows: Sequence[Row]) -> AdjustedLeaderboard:
    """Rate every model with everything else equal; each debate counts once."""
    rows = [row for row in rows if not row.mixed]
    return AdjustedLeaderboard(
        people=adjust(rows, lambda row: row.people), jury=adjust(rows, lambda row: row.jury)
    )


def adjust(rows: Sequence[Row], winner: Callable[[Row], str | None]) -> _AdjustedRatings:
    """Rate models by the winners of debates, with every effect that has an estimate.

    The models are those that the leaderboard rates. An effect is left out if no debate shows it, if
    it cannot be told from those before it, or if its most likely value is infinite or next to it.
    """
    contests = contests_of(rows, winner)
    group = next(iter(comparable_groups(contests)), ())
    fit = fit_strengths(contests.among(group)) if len(group) > 1 else None
    effects = {name: Effect(missing="unrated") for name in EFFECTS}
    if fit is not None:
        held = [
            (row, first, second, tied)
            for row, first, second, tied in meetings(rows, winner)
            if {row.models[first], row.models[second]} <= set(group)
        ]
        fit, effects = _fit_effects(fit, held)
    rated = ratings_of(contests, group, fit)
    order = {
        name: (rating.value is None, -(rating.value or 0.0), name) for name, rating in rated.items()
    }
    names = sorted(rated, key=order.__getitem__)
    return _AdjustedRatings(**effects, ratings={name: rated[name] for name in names})


def _fit_effects(
    fit: StrengthFit, held: Sequence[Meeting]
) -> tuple[StrengthFit, dict[str, Effect]]:
    """Add one effect after the other to a fit."""
    chosen: list[str] = []
    missing: dict[str, Effect] = {}
    for name in EFFECTS:
        matchups = _matchups(held, [*chosen, name])
        found = fit_matchups(matchups)
        if found is not None and found.effects[-1][1] <= LEAST_SURE:
            fit, chosen = found, [*chosen, name]
        elif not any(one.edges[-1] for one in matchups):
            missing[name] = Effect(missing="unseen")
        else:
            bounded = found is not None or told_apart(matchups)
            missing[name] = Effect(missing="unbounded" if bounded else "confounded")
    known = zip(chosen, fit.effects, strict=True)
    return fit, missing | {name: Effect(**in_points(*one)) for name, one in known}


def _matchups(held: Iterable[Meeting], names: Sequence[str]) -> list[Matchup]:
    """Return the results between models, those with equal covariates together."""
    counts: Counter[tuple[str, str, tuple[float, ...], bool]] = Counter()
    for row, first, second, tied in held:
        edges = tuple(_edge(row, first, second, name) for name in names)
        counts[row.models[first], row.models[second], edges, tied] += 1
    return [
        Matchup(first, second, 0 if tied else n, 0, n if tied else 0, edges)
        for (first, second, edges, tied), n in sorted(counts.items())
    ]


def _edge(row: Row, first: str, second: str, name: str) -> float:
    """Return a covariate of the first side's lead; 0 where a debate does not show it."""
    if name == "length":
        said, other = row.words.get(first, 0), row.words.get(second, 0)
        return log2(said / other) if said and other else 0.0
    if len(row.models) != 2:
        return 0.0
    favoured = next(iter(row.models)) if name == "side" else row.closer
    return float(favoured == first) - float(favoured == second)
