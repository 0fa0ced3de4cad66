"""Removes mentions, and the platform ids in them, from texts that leave the installation."""

from __future__ import annotations

import re

MENTION = "[mention]"

# An angle bracket may be literal, escaped as HTML, or escaped as JSON in a juror's raw reply.
_OPEN, _CLOSE = r"(?:<|&[lL][tT];|\\[uU]003[cC])", r"(?:>|&[gG][tT];|\\[uU]003[eE])"
_LABEL = r"(?:\|[^<>&\\\n]{0,100})?"
_BRACKETED = re.compile(
    rf"""
    {_OPEN}
    (?: @[!&]?\w{{1,40}} {_LABEL}
      | \#\w{{1,40}} {_LABEL}
      | !subteam\^\w{{1,40}} {_LABEL}
      | !(?i:channel|here|everyone|group) {_LABEL}
      | (?: a?:\w{{1,40}} | /[\w\ -]{{1,110}} | id ) :\w{{1,40}}
    )
    {_CLOSE}
    """,
    re.VERBOSE,
)
_LINK = re.compile(
    r"""
    [hH][tT][tT][pP][sS]?://(?:[\w-]{1,63}\.){0,3}
    (?i: discord(?:app)?\.com/(?:channels|users) | slack\.com/(?:archives|team|client|files) )
    /[\w/@?&=.%-]{1,300}
    """,
    re.VERBOSE,
)
# The lookbehind follows the @, so that the search can jump from one @ to the next.
_NAME = re.compile(r"@(?<![\w@/.+\\-]@)[!&]?\w[\w.-]{0,80}(?:@[!&]?\w[\w.-]{0,80})*")


def scrub(text: str) -> str:
    """Replace mentions of people, roles, channels and everyone, and links to messages.

    A plain `@name` counts too: platforms leave it when they cannot resolve a mention. Mail
    addresses stay.
    """
    # Nearly every text has none, and searching for one character is cheap.
    if "<" in text or "&" in text or "\\" in text:
        text = _BRACKETED.sub(MENTION, text)
    if "://" in text:
        text = _LINK.sub(MENTION, text)
    if "@" in text:
        text = _NAME.sub(MENTION, text)
    return text
