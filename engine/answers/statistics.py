"""What `agreement` and `leaderboard` answer in a chat, as canonical Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from engine.answers.answers import Answer, Wording
from engine.stats.agreement import Agreement
from engine.stats.figure import FEWEST
from engine.stats.jurors import JurorFigures
from engine.stats.ratings import Leaderboard, Rating
from engine.stats.wording import (
    tell_coefficient,
    tell_points,
    tell_rating,
    tell_record,
    tell_share,
)
from engine.words.phrases import plural

STANDINGS = 20

NOTHING_COMPARED = (
    "No debate was revealed here yet, so there is nothing to compare. Hold one, vote on it, and "
    "ask again once its vote has closed."
)
ONLY_REHEARSALS = (
    "Only rehearsal debates were revealed here. They do not count, as their speakers or jurors are "
    "not language models; ask again when debates are held by real ones."
)
LEFT_OUT = (
    "{n} rehearsal debate is left out: its speakers or jurors are not language models.",
    "{n} rehearsal debates are left out: their speakers or jurors are not language models.",
)
COMPARED = "Debates revealed here: {n}; judged by people and jury both: {compared}."
AGREEMENT = (
    "- Jury and people agree: {agreement}; where neither said tie: {decided}",
    "- Beyond chance: Cohen's κ {kappa}; Krippendorff's α among people {people}, among jurors "
    "{jurors}, people with the panel {all}",
    "- Two people choose the same: {pairs}; a person and the jury: {with_jury}",
    "- The jury's p(A): Brier score {brier} (0 is perfect, 0.25 is knowing nothing)",
    "- Of decided debates A wins {a_people} by people and {a_jury} by the jury; the last to speak "
    "{last_people} and {last_jury}",
)
ANCHORING = (
    "- Asked again after the reveal: of people who had chosen otherwise than the jury, {toward} "
    "came round to its choice; of those who had chosen as it did, {away} left it"
)
BIASES = "**What the jury gives a model beyond people, in points of its win rate**"
BIAS = "- `{model}`: {bias}"
JUROR_FIGURES = "**Jurors**"
JUROR_FIGURE = "- `{juror}`: {figures}"
AGREES = "agrees with people {value}"
CONSISTENT = "chooses the same in both orders {value}"
OWN = "favours its own family by {value} points"
INVALID = "invalid ballots {value}"
INTERVALS = (
    "In brackets: 95 % intervals, resampled by topic. Fewer than {fewest} debates are too few."
)
RATED = (
    "**Ratings by people and by the jury**, of {people} and {jury} debates (1000 is the mean, 400 "
    "more are odds of ten to one; in brackets 95 % intervals, then won–lost–tied)"
)
STANDING = "{place}. `{model}`: people {people}; jury {jury}"
RATING = "{rating}, {record}"
UNLISTED = "Models not shown: {n}."


class AgreementAnswer(Answer):
    """How far jury and people agree, in the debates revealed in this community.

    `rehearsals` of them have rehearsal models, and are left out.
    """

    agreement: Agreement
    rehearsals: int = 0

    def say(self, chat: Wording) -> Iterator[str]:
        """Say how far jury and people agree, a line at a time."""
        found = self.agreement
        if not found.debates:
            yield ONLY_REHEARSALS if self.rehearsals else NOTHING_COMPARED
            return
        yield COMPARED.format(n=found.debates, compared=found.compared)
        people, jury, pooled = found.people_shares, found.jury_shares, found.pooled
        told = {
            "agreement": tell_share(found.agreement),
            "decided": tell_share(found.decided),
            "kappa": tell_coefficient(found.kappa),
            "people": tell_coefficient(pooled.alpha_people),
            "jurors": tell_coefficient(pooled.alpha_jurors),
            "all": tell_coefficient(pooled.alpha_all),
            "pairs": tell_share(pooled.people),
            "with_jury": tell_share(pooled.jury),
            "brier": tell_coefficient(found.brier),
            "a_people": tell_share(people.a),
            "a_jury": tell_share(jury.a),
            "last_people": tell_share(people.closer),
            "last_jury": tell_share(jury.closer),
        }
        yield from (line.format_map(told) for line in AGREEMENT)
        if found.anchoring.toward.n or found.anchoring.away.n:
            toward, away = tell_share(found.anchoring.toward), tell_share(found.anchoring.away)
            yield ANCHORING.format(toward=toward, away=away)
        yield from _biases(found)
        yield INTERVALS.format(fewest=FEWEST)
        yield from left_out(self.rehearsals)


def left_out(rehearsals: int) -> Iterator[str]:
    """Say how many debates do not count, if any, as rehearsal models took part."""
    if rehearsals:
        yield plural(LEFT_OUT, rehearsals)


def _biases(found: Agreement) -> Iterator[str]:
    """Tell of models and jurors as far as there is anything but “too few” to tell."""
    models = [one for one in found.models if not one.bias.few]
    if models:
        yield BIASES
        yield from (BIAS.format(model=one.model, bias=tell_points(one.bias)) for one in models)
    jurors = [one for one in found.jurors if not one.invalid.few]
    if jurors:
        yield JUROR_FIGURES
    yield from (JUROR_FIGURE.format(juror=one.juror, figures=_juror(one)) for one in jurors)


def _juror(one: JurorFigures) -> str:
    told = (
        (AGREES, one.agreement, tell_share),
        (CONSISTENT, one.consistency, tell_share),
        (OWN, one.self_preference, tell_points),
        (INVALID, one.invalid, tell_share),
    )
    return "; ".join(words.format(value=tell(of)) for words, of, tell in told if not of.few)


class LeaderboardAnswer(Answer):
    """How people and jury rate the models, in the debates revealed in this community.

    `rehearsals` of them have rehearsal models, and are left out.
    """

    leaderboard: Leaderboard
    rehearsals: int = 0

    def say(self, chat: Wording) -> Iterator[str]:
        """List the models, the best rated first, a line at a time."""
        found = self.leaderboard
        if not found.standings:
            yield ONLY_REHEARSALS if self.rehearsals else NOTHING_COMPARED
            return
        yield RATED.format(people=found.people, jury=found.jury)
        for place, one in enumerate(found.standings[:STANDINGS], start=1):
            people, jury = _rating(one.people), _rating(one.jury)
            yield STANDING.format(place=place, model=one.model, people=people, jury=jury)
        left = len(found.standings) - STANDINGS
        if left > 0:
            yield UNLISTED.format(n=left)
        yield from left_out(self.rehearsals)


def _rating(rating: Rating | None) -> str:
    told = tell_rating(rating)
    return RATING.format(rating=told, record=tell_record(rating)) if rating else told
