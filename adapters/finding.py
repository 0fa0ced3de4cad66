"""What `rostrum check` says of one thing that it looked at."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """One thing that was looked at; `good` None is a remark."""

    subject: str
    good: bool | None
    text: str
