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

    A debate has one mirror at most: the one that it was held as the mirror of, else the
    earliest that waits for one.
    """

    pairs: list[Pair] = field(default_factory=list)
    _free: set[str] = field(default_factory=set)
    _waiting: dict[bytes, deque[str]] = field(default_factory=lambda: defaultdict(deque))

    def note(self, entry: Entry) -> None:
        """Pair a debate with an earlier one that mirrors it, or let it wait for a later one."""
        if not _counts(entry):
            return
        debate = entry.debate
        earlier = self._find(entry)
        if earlier is not None:
            self._free.remove(earlier)
            self.pairs.append(Pair(earlier, debate.id))
            return
        self._free.add(debate.id)
        if _can_be_matched(debate):
            self._waiting[_identify(entry, mirrored=False)].append(debate.id)

    def _find(self, entry: Entry) -> str | None:
        linked = entry.debate.setup.mirror_of
        if linked in self._free:
            return linked
        if not _can_be_matched(entry.debate):
            return None
        waiting = self._waiting.get(_identify(entry, mirrored=True), deque())
        while waiting:
            earlier = waiting.popleft()
            if earlier in self._free:
                return earlier
        return None


def _counts(entry: Entry) -> bool:
    """Whether people decided a debate for and against, and both sides spoke."""
    spoken = {speech.turn.side for speech in entry.speeches}
    sides = entry.debate.request.sides.keys()
    return entry.tally is not None and entry.tally.quorum_met and sides == STANDS.keys() == spoken


def _can_be_matched(debate: Debate) -> bool:
    """Whether a debate can be matched by its models: one for each side, and not the same."""
    request = debate.request
    return not request.seats and request.sides["A"].ref != request.sides["B"].ref


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
