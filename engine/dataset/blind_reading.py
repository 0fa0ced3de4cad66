"""A debate as people read it who label it in another tool: blind, the sides in one order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.blinding.transcript import BlindTurn, Identities, Scribe, Transcript
from engine.dataset.entry import Entry, ExportedTurn
from engine.values.debate import Debate, Status, Turn, TurnOrder
from engine.values.text import scrub

FIRST, SECOND = "first", "second"
PLACES = (FIRST, SECOND)


class Reading(NamedTuple):
    """A debate between two sides as it is shown: `order` is that of the sides, e.g. `BA`.

    `names` are their neutral names in that order, which the transcript has too.
    """

    entry: Entry
    order: str
    names: tuple[str, str]
    transcript: Transcript

    @property
    def id(self) -> str:
        """The debate and the order, in one word."""
        return f"{self.entry.debate.id}-{self.order}"


def readings(entry: Entry, *, both: bool = False) -> Iterator[Reading]:
    """Yield a whole debate between two sides in one order, or in `both`.

    Of many debates, half are shown in each order. One with a person as a side gives none.
    """
    sides = tuple(entry.debate.request.sides)
    if len(sides) != 2 or entry.debate.status is not Status.CLOSED or not entry.speeches:
        return
    if entry.person:
        return
    orders = [sides, sides[::-1]]
    if not both:
        orders = [orders[hashlib.sha256(entry.debate.id.encode()).digest()[0] % 2]]
    transcript, names = _lay_out(entry), entry.debate.setup.names
    for first, second in orders:
        shown = (names[first], names[second])
        yield Reading(entry, first + second, shown, transcript.arrange(shown))


def write_reading(transcript: Transcript) -> str:
    """Return a debate as Markdown; each line that a person or a model wrote begins with ">"."""
    parts = [f"Topic:\n{transcript.topic}"]
    if transcript.conditions:
        parts.append(f"Conditions that both sides had to respect:\n{transcript.conditions}")
    parts += [f"What {name} argues:\n{stance}" for name, stance in transcript.stances]
    for number, one in enumerate(transcript.rounds, start=1):
        parts.append(f"## Round {number}: {one.title}")
        if one.asked:
            parts.append("\n".join(("The audience asked both:", *one.asked)))
        parts += [f"### {heading(speech)}\n\n{speech.text}" for speech in one.speeches]
    return "\n\n".join(parts)


def heading(speech: BlindTurn) -> str:
    """Return who speaks, and when in the round."""
    return f"{speech.name}, {speech.told}"


def unquote(text: str) -> str:
    """Return a quoted text as it was written."""
    return "\n".join(line.removeprefix(">").removeprefix(" ") for line in text.splitlines())


def _lay_out(entry: Entry) -> Transcript:
    """Return the debate as jurors read it, also where those of the debate knew the models."""
    return read_blind(entry.debate, [_scrubbed(one) for one in entry.speeches])


def read_blind(debate: Debate, turns: Sequence[Turn], sources: Sequence[str] = ()) -> Transcript:
    """Return a debate as jurors read it, without mentions, for people outside its community.

    `turns` have no mentions any more; `sources` are the titles of what both sides read.
    """
    setup, request = debate.setup, debate.request
    gone = tuple(change.was for change in setup.replaced)
    cast = Identities(setup.names, request.sides | request.seats, True, gone)
    stances = {side: scrub(said) for side, said in request.stances.items()}
    about = (scrub(request.topic), scrub(request.conditions))
    scribe = Scribe(*about, cast, stances, tuple(map(scrub, sources)))
    together = request.turn_order is TurnOrder.SIMULTANEOUS
    return scribe.lay_out(turns, simultaneous=together)


def _scrubbed(speech: ExportedTurn) -> Turn:
    return without_mentions(speech.turn, speech.text)


def without_mentions(turn: Turn, text: str | None = None) -> Turn:
    """Return a turn without mentions; `text` is its own where that is known."""
    asked = tuple(map(scrub, turn.asked))
    said = scrub(turn.text) if text is None else text
    return turn.model_copy(update={"text": said, "asked": asked})
