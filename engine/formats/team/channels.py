"""Who may read what: a record of channels, from which alone a seat's context is built."""

from __future__ import annotations

from engine.prompts.quoting import Record, Speech
from engine.values.debate import side_of
from engine.values.ports import KEPT

PUBLIC, JUDGE_NOTES = "public", "judge_notes"
JUDGE = "judge"


def team_channel(side: str) -> str:
    """Return the channel of a team."""
    return f"team_{side.lower()}"


def notes_channel(side: str) -> str:
    """Return where the seats of a team write to one another."""
    return f"{team_channel(side)}_notes"


def may_read(reader: str, channel: str) -> bool:
    """Return whether a seat, or the judge, may read a channel."""
    if channel == PUBLIC:
        return True
    if reader == JUDGE:
        return channel == JUDGE_NOTES
    side = side_of(reader)
    return channel in (team_channel(side), notes_channel(side))


class Channels:
    """Everything said in every channel, in order."""

    def __init__(self) -> None:
        self._entries: list[tuple[str, Speech]] = []

    def write(self, channel: str, label: str, text: str) -> None:
        """Say something in a channel; `label` gives speaker and time."""
        self._entries.append((channel, Speech(f"[{label}]", text)))

    def read(self, reader: str, channel: str, *, last: int | None = None) -> Record:
        """Return a channel's entries in order, or only the `last` ones.

        Empty for a reader without access.
        """
        return Record(self._heard(reader, channel, last))

    def entries(self, reader: str, channel: str) -> list[Record]:
        """Return the same, one by one."""
        return [Record([entry]) for entry in self._heard(reader, channel)]

    def record(self, reader: str) -> Record:
        """Return the public record, which only grows: each entry is kept in later prompts."""
        return Record(self._heard(reader, PUBLIC), KEPT)

    def _heard(self, reader: str, channel: str, last: int | None = None) -> list[Speech]:
        if not may_read(reader, channel):
            return []
        heard = [said for where, said in self._entries if where == channel]
        return heard if last is None else heard[-last:] if last else []
