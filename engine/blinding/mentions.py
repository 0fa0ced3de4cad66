"""Removes mentions, ids of platforms and invitations from texts that people write or read."""

from __future__ import annotations

import re

MENTION, INVITE = "[mention]", "[invite]"

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
# Discord shows the invitation itself, live, even without a scheme.
_INVITE = re.compile(
    r"(?i:https?://)?(?<![\w.-])(?i:www\.)?"
    r"(?i:discord\.gg|discord(?:app)?\.com/invite|dsc\.gg)/[\w-]{1,64}"
)
# The lookbehind follows the @, so that the search can jump from one @ to the next.
_NAME = re.compile(r"@(?<![\w@/.+\\-]@)[!&]?\w[\w.-]{0,80}(?:@[!&]?\w[\w.-]{0,80})*")


def scrub(text: str) -> str:
    """Replace mentions of people, roles, channels and everyone, links to messages, invitations.

    A plain `@name` counts too: platforms leave it when they cannot resolve a mention. Mail
    addresses stay.
    """
    # Nearly every text has none, and searching for one character is cheap.
    if "<" in text or "&" in text or "\\" in text:
        text = _BRACKETED.sub(MENTION, text)
    if "://" in text:
        text = _LINK.sub(MENTION, text)
    if ".gg/" in text.casefold() or "/invite/" in text.casefold():
        text = _INVITE.sub(INVITE, text)
    if "@" in text:
        text = _NAME.sub(MENTION, text)
    return text
