"""Limits, each a section of the settings: those of a format, which its script reads, and caps."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.values.debate import Value

# Far above any use, and a number that every database and model accepts.
MOST = 1_000_000
UNLIMITED = 1000  # words of a text in `structured`; prompts name only a smaller limit
Count = Annotated[int, Field(ge=1, le=MOST)]
Weight = Annotated[float, Field(gt=0, le=MOST)]
Points = Annotated[float, Field(ge=0, le=100)]
Length = Annotated[float, Field(gt=0, le=MOST)]


class FormatLimits(Value):
    """The limits of one format, all of them numbers."""

    def numbers(self) -> dict[str, float]:
        """Return the limits by name, as a debate freezes them."""
        return {name: float(value) for name, value in self}


class ClassicLimits(FormatLimits):
    """The format's limits: words and arguments a turn, and the closing's two parts."""

    words: Count = 500
    arguments: Count = 3
    synthesis_chars: Count = 500
    decision_words: Count = 200


class TeamLimits(FormatLimits):
    """The clock: words a minute, minutes of each kind of speech, and of free debate a team.

    Without minutes for them there are no summaries. `exchanges` are those of the
    cross-examination; `free_speeches` is how many a team gives at most in the free debate, as
    far as its time allows. For weights and penalties see `Scoring`.
    """

    words_a_minute: Length = 250
    opening_minutes: Length = 3
    question_minutes: Length = 0.5
    answer_minutes: Length = 1
    summary_minutes: float = Field(2, ge=0, le=MOST)
    closing_minutes: Length = 3
    exchanges: int = Field(4, ge=1, le=4)
    free_speeches: Count = 100
    free_minutes: Length = 4
    free_speech_minutes: Length = 0.6
    note_words: Count = 30
    weight_logic: Weight = 0.25
    weight_persuasion: Weight = 0.25
    weight_expression: Weight = 0.20
    weight_teamwork: Weight = 0.15
    weight_rule_compliance: Weight = 0.15
    penalty_overtime_team: Points = 3
    penalty_overtime_seat: Points = 2
    penalty_twice: Points = 3
    penalty_counter_question: Points = 2
    penalty_attacker_answered: Points = 2

    def minutes(self, minutes: float) -> int:
        """Return how many words fit into `minutes`."""
        return max(1, round(minutes * self.words_a_minute))

    def times(self) -> dict[str, int]:
        """Return the most words of a speech of each kind; 0: there is none of it."""
        return {
            "opening": self.minutes(self.opening_minutes),
            "ask": self.minutes(self.question_minutes),
            "answer": self.minutes(self.answer_minutes),
            "summary": self.minutes(self.summary_minutes) if self.summary_minutes else 0,
            "free": self.minutes(self.free_speech_minutes),
            "closing": self.minutes(self.closing_minutes),
        }


class StructuredLimits(FormatLimits):
    """How many arguments an opening has, how long their parts are at least, and the closing.

    `questions` is the most follow-up questions of a response; one is needed. `text_words` is how
    long each text of an answer may be at most. The weights are those of the rubric `panel`, in
    shares of one another.
    """

    fewest: int = Field(3, ge=1, le=9)
    most: int = Field(5, ge=1, le=9)
    claim_chars: Count = 10
    reasoning_chars: Count = 20
    evidence_chars: Count = 5
    questions: int = Field(3, ge=1, le=9)
    closing_least: Count = 100
    closing_words: Count = 200
    text_words: Count = UNLIMITED
    weight_logic: Weight = 0.30
    weight_evidence: Weight = 0.30
    weight_responsiveness: Weight = 0.25
    weight_honesty: Weight = 0.15

    @property
    def told_words(self) -> int:
        """Return the limit of a text as prompts name it; 0: they name none."""
        return self.text_words if self.text_words < UNLIMITED else 0


class AuditedLimits(FormatLimits):
    """Words of a turn, and the points of logic that each kind of failure costs its turn."""

    words: Count = 250
    penalty_hollow: Points = 1
    penalty_fabricated: Points = 2
    penalty_inverted_fact: Points = 2
    penalty_reversed_causality: Points = 2
    penalty_dropped: Points = 1
    penalty_contradicted: Points = 2


class OxfordLimits(FormatLimits):
    """Words of a speech."""

    words: Count = 300


class RoundtableLimits(FormatLimits):
    """Words of a draft, and the overlap of every pair of drafts from which no one revises."""

    words: Count = 350
    overlap: float = Field(0.8, gt=0, le=1)


_Usd = Annotated[float | None, Field(ge=0, allow_inf_nan=False)]
_Count = Annotated[int | None, Field(ge=0)]


class Caps(Value):
    """What may be spent and run at once; None is no cap. Money is USD.

    Managers are warned once `alert_percent` of a community's money of the day is reserved or spent.
    The caps of the installation hold for all communities together.
    """

    debate_usd: _Usd = 1.0
    community_daily_usd: _Usd = 10.0
    user_daily_debates: _Count = 10
    max_live_per_community: _Count = 3
    installation_daily_usd: _Usd = None
    max_live: _Count = None
    alert_percent: float | None = Field(80.0, gt=0, le=100)

    @property
    def by_day(self) -> bool:
        """Whether the money of a day is capped."""
        return not (self.community_daily_usd is None and self.installation_daily_usd is None)


MAX_DEPTH = 64
TOO_DEEP = f"the answer's JSON is nested deeper than {MAX_DEPTH} levels"
