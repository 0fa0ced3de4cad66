"""The motion of a debate that is about a message in a chat."""

from __future__ import annotations

import re

from engine.values.errors import UsageError
from engine.values.text import MENTION, clean, headline, is_visible, scrub

LONGEST_MOTION = 2000  # characters, so that a form takes them however it counts
NO_MOTION = (
    "This message has no text to debate. Choose one with words, or write a motion with "
    "/debate start."
)
_MENTIONS = re.compile(rf"\s*(?:{re.escape(MENTION)}[\s,:;]*)+")


def motion_of(text: str) -> str:
    """Return a message on one line, without mentions, cut at a word if it is too long.

    Raises UsageError for one without text, such as a picture.
    """
    plain = _MENTIONS.sub(" ", scrub(clean(text))).strip()
    if not is_visible(plain):
        raise UsageError(NO_MOTION)
    return headline(plain, LONGEST_MOTION)
