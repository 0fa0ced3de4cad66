"""Where debates and communities are on the web."""

from __future__ import annotations

from typing import NamedTuple


class Permalinks(NamedTuple):
    """Addresses below a `url`; without one, pages are served nowhere, and each address is empty."""

    url: str = ""

    def debate(self, debate_id: str) -> str:
        """Return where a debate is, by its id, as its code could be guessed."""
        return f"{self.url}/d/{debate_id.lower()}" if self.url else ""

    def community(self, page: str | None) -> str:
        """Return where a community is; empty for one without a page."""
        return f"{self.url}/c/{page}" if self.url and page else ""
