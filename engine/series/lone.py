"""Posts a message that belongs to no debate, and so has no row in the outbox.

Its reference finds it again: posted before a kill, it is not posted twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.values.errors import VenueAwayError, VenueError
from engine.values.messages import Message
from engine.values.ports import Venue


async def post_alone(venue: Venue, places: Sequence[str], message: Message, stem: str) -> None:
    """Post to the first of these places that takes it, unless it is there already.

    Raises VenueAwayError, and VenueError if all refuse it.
    """
    for place in places:
        try:
            await _post(venue, place, message, stem)
        except VenueAwayError:
            raise
        except VenueError:
            if place == places[-1]:
                raise
        else:
            return


async def _post(venue: Venue, place: str, message: Message, stem: str) -> None:
    for part in venue.render(message, stem):
        if await venue.find(place, part.reference, None) is None:
            async with venue.turn(place):
                await venue.post(place, part)
