"""Names and faces of speakers: Slack lets an app choose both for each message."""

from __future__ import annotations

from typing import Any

from engine.values.text import clean, headline
from engine.words.card import Speaker, by_side

SCOPE = "chat:write.customize"
LONGEST_NAME = 80
FACES = {"A": "large_blue_circle", "B": "red_circle"}
OTHER_FACES = (
    *("large_blue_circle", "red_circle", "large_green_circle", "large_purple_circle"),
    *("large_brown_circle", "large_orange_circle", "black_circle", "white_circle"),
    "large_yellow_circle",
)
NO_FACE = "speech_balloon"


def shown_as(speaker: Speaker) -> dict[str, Any]:
    """Return the fields of a message that give it a speaker's name and face."""
    face = by_side(speaker.side, FACES, OTHER_FACES, NO_FACE)
    return {"username": headline(clean(speaker.name), LONGEST_NAME), "icon_emoji": f":{face}:"}
