"""The sections of the settings that belong to one format each: the limits of its turns."""

from __future__ import annotations

from pydantic import Field

from bot.settings_sources import Section


class FormatSettings(Section):
    """The limits of one format, all of them numbers."""

    def limits(self) -> dict[str, float]:
        """Return the limits by name, as a debate freezes them."""
        return {name: float(value) for name, value in self}


class ClassicSettings(FormatSettings):
    """The limits of a turn in the format `classic`."""

    words: int = Field(500, ge=1)
    arguments: int = Field(3, ge=1)
    synthesis_chars: int = Field(500, ge=1)
    decision_words: int = Field(200, ge=1)


class TeamSettings(FormatSettings):
    """The clock of the format `team`."""

    words_a_minute: float = Field(250, gt=0)
    free_minutes: float = Field(4, gt=0)
    free_speech_minutes: float = Field(0.6, gt=0)


class StructuredSettings(FormatSettings):
    """The limits of the format `structured`."""

    fewest: int = Field(3, ge=1, le=9)
    most: int = Field(5, ge=1, le=9)
    claim_chars: int = Field(10, ge=1)
    reasoning_chars: int = Field(20, ge=1)
    evidence_chars: int = Field(5, ge=1)
    closing_words: int = Field(200, ge=1)


class AuditedSettings(FormatSettings):
    """The limits of the format `audited`."""

    words: int = Field(250, ge=1)


class OxfordSettings(FormatSettings):
    """The limits of the format `oxford`."""

    words: int = Field(300, ge=1)


class RoundtableSettings(FormatSettings):
    """The limits of the format `roundtable`."""

    words: int = Field(350, ge=1)
    overlap: float = Field(0.8, gt=0, le=1)
