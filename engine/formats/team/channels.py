"""Who may read what: a record of channels, from which alone a seat's context is built."""

from __future__ import annotations

from typing import NamedTuple

from engine.debate import side_of
from engine.ports import KEPT

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


class ChannelEntry(NamedTuple):
    """One thing that was said in a channel; `label` gives speaker and time."""

    channel: str
    label: str
    text: str


class Channels:
    """Everything said in every channel, in order."""

    def __init__(self) -> None:
        self._entries: list[ChannelEntry] = []

    def write(self, channel: str, label: str, text: str) -> None:
        """Say something in a channel."""
        self._entries.append(ChannelEntry(channel, label, text))

    def read(self, reader: str, channel: str, *, last: int | None = None) -> str:
        """Return a channel's entries in order, or only the `last` ones.

        Empty for a reader without access.
        """
        return "\n\n".join(self.entries(reader, channel, last=last))

    def entries(self, reader: str, channel: str, *, last: int | None = None) -> list[str]:
        """Return the same, one by one."""
        heard = [e for e in self._entries if e.channel == channel and may_read(reader, channel)]
        recent = heard if last is None else heard[-last:] if last else []
        return [f"[{entry.label}]\n{entry.text}" for entry in recent]

    def record(self, reader: str) -> str:
        """Return the public record, which only grows: each entry is kept in later prompts."""
        return "\n\n".join(f"{entry}{KEPT}" for entry in self.entries(reader, PUBLIC))
