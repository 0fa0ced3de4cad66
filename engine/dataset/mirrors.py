"""Finding debates that are the same but for their sides, which are exchanged."""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from engine.dataset.conversation import STANDS
from engine.dataset.entry import Entry
from engine.debate import Debate


class Pair(NamedTuple):
    """Two debates by id, the earlier first."""

    first: str
    second: str


@dataclass(slots=True)
class Mirrors:
    """Pairs in the making; of a debate it keeps an id and a hash, and never its texts.

    A debate has one mirror at most: the earliest that waits for one.
    """

    pairs: list[Pair] = field(default_factory=list)
    _waiting: dict[bytes, deque[str]] = field(default_factory=lambda: defaultdict(deque))

    def note(self, entry: Entry) -> None:
        """Pair a debate with an earlier one that mirrors it, or let it wait for a later one."""
        if not _counts(entry):
            return
        mirrored = self._waiting.get(_identify(entry, mirrored=True))
        if mirrored:
            self.pairs.append(Pair(mirrored.popleft(), entry.debate.id))
        else:
            self._waiting[_identify(entry, mirrored=False)].append(entry.debate.id)


def _counts(entry: Entry) -> bool:
    """Whether people decided a debate between two models for and against, who both spoke."""
    request = entry.debate.request
    spoken = {speech.turn.side for speech in entry.speeches}
    return (
        entry.tally is not None
        and entry.tally.quorum_met
        and request.sides.keys() == STANDS.keys() == spoken
        and not request.seats
        and request.sides["A"].ref != request.sides["B"].ref
    )


def _identify(entry: Entry, *, mirrored: bool) -> bytes:
    """Hash what a debate and its mirror share, with the models in the order of the sides."""
    request = entry.debate.request
    models = [request.sides[side].ref for side in STANDS]
    shared = {
        "topic": entry.topic_id,
        "conditions": entry.conditions,
        "held": _held(entry.debate),
        "models": models[::-1] if mirrored else models,
    }
    return hashlib.sha256(orjson.dumps(shared)).digest()


def _held(debate: Debate) -> list[object]:
    request = debate.request
    return [request.language, request.format, request.rounds, request.turn_order.value]
