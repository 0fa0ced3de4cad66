"""The references of posted messages, as each platform keeps them."""

from __future__ import annotations

import re
from typing import Any

_SMALL_PRINT = re.compile(r"(?:^|[ ])#(\d+)(b?)(?: · ([\d.]+/\d+))? · (\w+)$", re.MULTILINE)


def in_small_print(text: str) -> str:
    """Return the reference `k7f2qz·3·1/2` that small print `#3 · 1/2 · k7f2qz` ends with."""
    found = _SMALL_PRINT.search(text)
    if found is None:
        return ""
    number, beside, piece, code = found.groups()
    return f"{code}{'gap' if beside else ''}·{number}·{piece or '1/1'}"


def on_discord(message: dict[str, Any]) -> str:
    """Return the reference in the footer or the last line of a message as Discord has it."""
    embeds = message.get("embeds") or [{}]
    footer = (embeds[0].get("footer") or {}).get("text") or ""
    return in_small_print(footer or message.get("content") or "")


def on_slack(metadata: dict[str, Any] | None) -> str:
    """Return the reference in a message's metadata."""
    return str(((metadata or {}).get("event_payload") or {}).get("reference", ""))
