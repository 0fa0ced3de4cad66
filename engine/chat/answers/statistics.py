"""Answers to `agreement` and `leaderboard`, as canonical Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from engine.chat.answers import Answer, Wording, answering
from engine.stats.agreement import Agreement
from engine.stats.figure import Figure
from engine.stats.jurors import JurorFigures
from engine.stats.presentation import leaderboard_picture
from engine.stats.ratings import Leaderboard, Rating, word_rating
from engine.store.privacy import GuessRecord
from engine.tally import FEWEST
from engine.values.language import N_, Count, Text
from engine.values.messages import File
from engine.words.translation import say

STANDINGS = 20

NOTHING_COMPARED = N_(
    "There is nothing to compare: no debate was revealed here yet. Hold one, vote on it, and try "
    "again after its vote closes."
)
ONLY_REHEARSALS = N_(
    "Only rehearsal debates were revealed here. They do not count because their speakers or jurors "
    "are not language models. Try again after a debate between real models."
)
AGREEMENT = (
    N_("- Jury and people agree: {agreement}; without ties: {decided}"),
    N_("- Two people choose the same: {pairs}; a person and the jury: {with_jury}"),
    N_("- Decided for 🔵 A: by people {a_people}; by the jury {a_jury}"),
    N_("- Decided for the last speaker: by people {last_people}; by the jury {last_jury}"),
)
STATISTICS = N_("**Statistics**")
BEYOND_CHANCE = (
    N_(
        "- Agreement beyond chance: Cohen's κ {kappa}; Krippendorff's α among people {people}, "
        "among jurors {jurors}, people with the jury {all}"
    ),
    N_("- The jury's forecasts: Brier score {brier} (0 is perfect, 0.25 is a coin flip)"),
)
JUROR_FIGURES = N_("**Jurors**")


@answering()
def agreement_figures(_: Wording, found: Agreement, rehearsals: int = 0) -> Iterator[str]:
    """Report how far jury and people agree over this community's revealed debates.

    `rehearsals` counts rehearsal debates, which are left out.
    """
    if not found.debates:
        yield say(ONLY_REHEARSALS if rehearsals else NOTHING_COMPARED)
        return
    yield say(
        "Debates revealed here: {n}; judged by both people and jury: {compared}.",
        n=found.debates,
        compared=found.compared,
    )
    figures = _figures(found)
    yield from (say(line, **figures) for line in AGREEMENT)
    toward, away = found.anchoring.toward, found.anchoring.away
    if toward.n or away.n:
        yield say(
            "- Asked again after the reveal: of people who had disagreed with the jury, "
            "{toward} moved to its choice; of those who had agreed, {away} moved away",
            toward=toward,
            away=away,
        )
    if found.guessing.chance is not None:
        yield say(
            "- Blind guesses at the models: {share} right; by chance it would be {chance:.0f} %",
            share=found.guessing.share,
            chance=100 * found.guessing.chance,
        )
    yield from _biases(found)
    yield say(STATISTICS)
    yield from (say(line, **figures) for line in BEYOND_CHANCE)
    yield say(
        "In brackets: 95 % intervals, resampled by topic. “Too few” is fewer than "
        "{fewest} debates.",
        fewest=FEWEST,
    )
    yield from map(say, left_out(rehearsals))


def _figures(found: Agreement) -> dict[str, Figure]:
    people, jury, pooled = found.people_shares, found.jury_shares, found.pooled
    return {
        "agreement": found.agreement,
        "decided": found.decided,
        "kappa": found.kappa,
        "people": pooled.alpha_people,
        "jurors": pooled.alpha_jurors,
        "all": pooled.alpha_all,
        "pairs": pooled.people,
        "with_jury": pooled.jury,
        "brier": found.brier,
        "a_people": people.a,
        "a_jury": jury.a,
        "last_people": people.closer,
        "last_jury": jury.closer,
    }


def left_out(rehearsals: int) -> Iterator[Text]:
    """Report how many rehearsal debates were left out, if any."""
    if rehearsals:
        yield Count(
            "{n} rehearsal debate is left out: its speakers or jurors are not language models.",
            "{n} rehearsal debates are left out: their speakers or jurors are not language models.",
            rehearsals,
        )


def _biases(found: Agreement) -> Iterator[str]:
    """Report the models and jurors that have enough debates."""
    models = [one for one in found.models if not one.bias.few]
    if models:
        yield say("**Jury bias: win rate with the jury minus win rate with people, in points**")
        yield from (say("- `{model}`: {bias}", model=one.model, bias=one.bias) for one in models)
    jurors = [one for one in found.jurors if not one.invalid.few]
    if jurors:
        yield say(JUROR_FIGURES)
    yield from (
        say("- `{juror}`: {figures}", juror=one.juror, figures=_juror(one)) for one in jurors
    )


def _juror(one: JurorFigures) -> str:
    known = (
        (N_("agrees with people {value}"), one.agreement),
        (N_("same choice in both orders {value}"), one.consistency),
        (N_("favours its own family by {value} points"), one.self_preference),
        (N_("unreadable answers {value}"), one.invalid),
    )
    return "; ".join(say(words, value=of) for words, of in known if not of.few)


class LeaderboardAnswer(Answer):
    """Ratings by people and jury over this community's revealed debates.

    `rehearsals` counts rehearsal debates, which are left out. `guessers` are people who want to be
    named for their guesses.
    """

    leaderboard: Leaderboard
    rehearsals: int = 0
    guessers: tuple[GuessRecord, ...] = ()

    def say(self, chat: Wording) -> Iterator[str]:
        """List the models, best rated first, then who guessed them best."""
        yield from self._models()
        if self.guessers:
            yield say("**Who guesses models best**")
        for place, one in enumerate(self.guessers, start=1):
            name = chat.person(one.user)
            yield say(
                "{place}. {name}: {right} of {n}", place=place, name=name, right=one.right, n=one.n
            )

    def picture(self) -> File | None:
        """Return the models' ratings, with their intervals."""
        return leaderboard_picture(self.leaderboard) if self.leaderboard.standings else None

    def _models(self) -> Iterator[str]:
        found = self.leaderboard
        if not found.standings:
            yield say(ONLY_REHEARSALS if self.rehearsals else NOTHING_COMPARED)
            return
        yield say(
            "**Ratings by people and by the jury** (debates: people {people}, jury {jury})",
            people=found.people,
            jury=found.jury,
        )
        for place, one in enumerate(found.standings[:STANDINGS], start=1):
            people, jury = _rating(one.people), _rating(one.jury)
            yield say(
                "{place}. `{model}` · people: {people} · jury: {jury}",
                place=place,
                model=one.model,
                people=people,
                jury=jury,
            )
        left = len(found.standings) - STANDINGS
        if left > 0:
            yield say("Models not shown: {n}.", n=left)
        yield say(
            "1000 is the mean, and 400 points more mean odds of ten to one. Behind a rating: its "
            "95 % interval, then won–lost–tied."
        )
        yield from map(say, left_out(self.rehearsals))


def _rating(rating: Rating | None) -> str:
    if rating is None:
        return word_rating(rating)
    return say("{rating}, {record}", rating=rating, record=rating.record)
