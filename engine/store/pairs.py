"""When the votes of a debate and of its mirror end: both together, at the later deadline. Pure.

The first reveal names the models of both, so later choices on the other debate are no labels
(`Vote.mirror_revealed`).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from engine.values.debate import Debate, Status

LONGEST_WAIT = timedelta(hours=24)
"""How long a vote stays open past its deadline until the mirror's vote opens.

From then on both have the mirror's deadline, so nothing waits for ever.
"""


def awaits(debate: Debate, mirror: Debate | None, now: datetime) -> bool:
    """Return whether an open vote waits for its mirror's to open; the store has the same in SQL.

    This includes a vote whose thread is gone, as its reveal is posted elsewhere.
    """
    if mirror is None or debate.vote_deadline is None:
        return False
    to_come = mirror.status.live or (
        mirror.status is Status.VOTING and mirror.vote_deadline is None
    )
    return to_come and now < debate.vote_deadline + LONGEST_WAIT


def closes_with(debate: Debate, mirror: Debate | None) -> bool:
    """Return whether both votes are open, so that they close together."""
    return mirror is not None and all(
        one.status is Status.VOTING and one.vote_deadline is not None for one in (debate, mirror)
    )


def tied(debate: Debate, mirror: Debate, now: datetime) -> bool:
    """Return whether an open vote ends together with its mirror's."""
    return debate.status is Status.VOTING and (
        closes_with(debate, mirror) or awaits(debate, mirror, now)
    )
