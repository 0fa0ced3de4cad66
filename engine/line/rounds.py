"""After each round: the question of who is ahead, which no turn waits for."""

from __future__ import annotations

from engine.formats.format import Format
from engine.store import Post
from engine.tally.questions import round_options
from engine.values.debate import Debate, Turn
from engine.values.messages import RoundInvite


class Rounds:
    """Notes where a running debate stands, and what to ask when another round begins."""

    def __init__(self, debate: Debate, script: Format) -> None:
        self._debate, self._script = debate, script
        self._spoken = ""
        self._asked: set[str] = set()

    def spoken(self, turn: Turn) -> None:
        """Note a finished turn."""
        self._spoken = self._script.round_of(turn.round)

    def before(self, step: str) -> Post | None:
        """Return the question about the round that is over when a step begins, once."""
        kind, *rest = step.split("/")
        over = self._spoken
        if not self._debate.request.round_votes or kind != "turn" or not over:
            return None
        if over in self._asked or self._script.round_of(rest[0]) == over:
            return None
        self._asked.add(over)
        return ask_after(self._debate, over)


def ask_after(debate: Debate, round_name: str) -> Post:
    """Return the question of who is ahead after a round."""
    request = debate.request
    invite = RoundInvite(
        round=round_name,
        options=round_options(tuple(request.sides)),
        ballot=request.ballot,
        stances=request.stances,
        names=debate.setup.called,
    )
    return Post(key=f"round/{round_name}", message=invite)
