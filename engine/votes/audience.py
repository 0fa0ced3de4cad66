"""Which of the audience's questions stand, how many people support each, and which are put. Pure.

A person supports one question at a time; their last choice counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import structlog

from engine.stage.stage import MOST_PUT
from engine.store.archive import AudienceQuestion
from engine.tally.fold import standing_option, vote_folds
from engine.values.debate import Moderation
from engine.values.errors import FlaggedError
from engine.values.verdicts import VoteEvent

if TYPE_CHECKING:
    from engine.values.protocols import Moderator

# Texts by people, shown to a moderation model where one is named.


log = structlog.get_logger(__name__)


async def moderate(moderator: Moderator, texts: Sequence[str], refusal: str) -> Moderation:
    """Return what a moderation model says of texts by people.

    Raises FlaggedError with `refusal`, and ModelError if it cannot be asked.
    """
    said = await moderator.check([text for text in texts if text])
    if said.flagged:
        # Without the text, which is not logged.
        log.info("topic flagged", model=said.model, categories=said.categories)
        raise FlaggedError(refusal)
    return said


MOST_LISTED = 5  # that people can choose from at a time: the first that stand


def standing_questions(asked: Sequence[AudienceQuestion]) -> tuple[AudienceQuestion, ...]:
    """Return the questions that were not taken back."""
    return tuple(one for one in asked if not one.removed)


def support_of(events: Sequence[VoteEvent]) -> Mapping[int, int]:
    """Return how many people support each question, by its number."""
    folds = vote_folds(events, tally_visible=False).values()
    chosen = (standing_option(held) for held in folds)
    return Counter(int(one.option) for one in chosen if one is not None)


def choose(
    asked: Sequence[AudienceQuestion], support: Mapping[int, int], most: int = MOST_PUT
) -> tuple[AudienceQuestion, ...]:
    """Return the questions to put to both sides: those with most support, the earlier of equals."""
    standing = standing_questions(asked)
    order = sorted(standing, key=lambda one: (-support.get(one.number, 0), one.number))
    return tuple(order[:most])
