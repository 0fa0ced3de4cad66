"""What people write into a debate: the audience's questions, and turns of one who argues a side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import structlog

from engine.blinding.identity import HIDDEN
from engine.stage import MOST_PUT
from engine.store import Store
from engine.store.guests import Guest
from engine.store.targets import AudienceQuestion
from engine.tally.fold import standing_option, vote_folds
from engine.values.debate import Debate, Moderation
from engine.values.errors import FlaggedError, VenueAwayError, VenueError
from engine.values.text import clean, is_visible, redact
from engine.values.topics import has_blocked
from engine.values.verdicts import VoteEvent, Withheld

if TYPE_CHECKING:
    from engine.values.protocols import Moderator, Venue

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


# What a person who argues a side wrote: read from their thread, and made fit for a turn.


SHORTEST_NAME = 3  # characters; a shorter one is a word like any other
SHORTEST_PART = 4  # of one of several words of a name
Check = Callable[[str], Awaitable[object]]


def spoken_text(said: Sequence[str], names: Sequence[str]) -> str:
    """Return what a person wrote as the text of a turn: without mentions and their own names.

    Empty if there is nothing to read.
    """
    text = without_names(redact(clean("\n\n".join(said))), names).strip()
    return text if is_visible(text) else ""


def without_names(text: str, names: Sequence[str]) -> str:
    """Return a text without a person's names, so that no juror learns who wrote it."""
    whole = sorted((n for n in names if len(n) >= SHORTEST_NAME), key=len, reverse=True)
    for name in whole:
        text = re.sub(rf"(?i)(?<!\w){re.escape(name)}(?!\w)", HIDDEN, text)
    parts = {part for name in whole for part in name.split() if len(part) >= SHORTEST_PART}
    for part in sorted(parts, key=lambda part: (-len(part), part)):
        text = re.sub(rf"(?<!\w){re.escape(part)}(?!\w)", HIDDEN, text)
    return text


async def said_below(venue: Venue, store: Store, debate: Debate, guest: Guest, step: str) -> str:
    """Return what a person wrote in the thread since their turn was asked for, as it stands now.

    Raises VenueAwayError while it cannot be read; what cannot be read at all is nothing.
    """
    turn = await store.guests.open_turn(debate.id)
    if turn is None or turn.step != step or turn.message is None or guest.user is None:
        return ""
    try:
        said = await venue.written_by(debate.thread or debate.place, guest.user, turn.message)
    except VenueAwayError:
        raise
    except VenueError as error:
        log.warning("turn not read", debate=debate.id, why=str(error))
        return ""
    return spoken_text(said, guest.names)


async def take_over(store: Store, debate: Debate, text: str, check: Check) -> tuple[str, Withheld]:
    """Return what the end of a turn takes over, and why nothing of what was written.

    Its person can reword nothing afterwards.

    A blocked word withholds it, and so does what the moderation model that `check` asks flags.
    Raises ModelError while that cannot be asked: then nothing is decided.
    """
    if not text:
        return "", ""
    settings = await store.communities.get(debate.platform, debate.community)
    if has_blocked(settings.blocked_words, text):
        return "", "blocked"
    try:
        await check(text)
    except FlaggedError:
        return "", "flagged"
    return text, ""
