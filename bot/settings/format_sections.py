"""What a section of the settings is, and those of the formats: the limits of their turns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, NamedTuple, TypeAlias

from pydantic import Field

from engine.values.debate import Value

PREFIX = "ROSTRUM_"
NamePath: TypeAlias = tuple[str, ...]
# Far above any use, and a number that every database and model accepts.
MOST = 1_000_000
Count = Annotated[int, Field(ge=1, le=MOST)]
Weight = Annotated[float, Field(gt=0, le=MOST)]
Points = Annotated[float, Field(ge=0, le=100)]
Length = Annotated[float, Field(gt=0, le=MOST)]


class SettingsSection(Value):
    """Settings that share a prefix; a `dict` of sections has keys chosen by the user."""


class Wrong(NamedTuple):
    """An invalid setting: its path, and the message."""

    path: NamePath
    sentence: str


def variable(path: Iterable[str]) -> str:
    """Return the variable of a path."""
    return PREFIX + "__".join(path).upper()


class FormatSettings(SettingsSection):
    """The limits of one format, all of them numbers."""

    def limits(self) -> dict[str, float]:
        """Return the limits by name, as a debate freezes them."""
        return {name: float(value) for name, value in self}


class ClassicSettings(FormatSettings):
    """The limits of a turn in the format `classic`."""

    words: Count = 500
    arguments: Count = 3
    synthesis_chars: Count = 500
    decision_words: Count = 200


class TeamSettings(FormatSettings):
    """The clock of the format `team`, and how its speeches are scored."""

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


class StructuredSettings(FormatSettings):
    """The limits of the format `structured`, and the weights of its judge's criteria."""

    fewest: int = Field(3, ge=1, le=9)
    most: int = Field(5, ge=1, le=9)
    claim_chars: Count = 10
    reasoning_chars: Count = 20
    evidence_chars: Count = 5
    questions: int = Field(3, ge=1, le=9)
    closing_least: Count = 100
    closing_words: Count = 200
    text_words: Count = 1000
    weight_logic: Weight = 0.30
    weight_evidence: Weight = 0.30
    weight_responsiveness: Weight = 0.25
    weight_honesty: Weight = 0.15


class AuditedSettings(FormatSettings):
    """The limits of the format `audited`, and what failures of logic cost."""

    words: Count = 250
    penalty_hollow: Points = 1
    penalty_fabricated: Points = 2
    penalty_inverted_fact: Points = 2
    penalty_reversed_causality: Points = 2
    penalty_dropped: Points = 1
    penalty_contradicted: Points = 2


class OxfordSettings(FormatSettings):
    """The limits of the format `oxford`."""

    words: Count = 300


class RoundtableSettings(FormatSettings):
    """The limits of the format `roundtable`."""

    words: Count = 350
    overlap: float = Field(0.8, gt=0, le=1)
