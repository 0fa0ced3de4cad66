"""What talks to the outside world; and the result of checking that, of `rostrum check`."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """The result of one check; `good` is None for a note."""

    subject: str
    good: bool | None
    text: str
