"""How Slack says no: `{"ok": false, "error": …}` with status 200."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


class Refusal(Exception):  # noqa: N818 - an answer of the platform, not an error of the double
    """A request that is refused with an error's name, and fields that go with it."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.more = more

    def body(self) -> Json:
        """Return what is answered."""
        return {"ok": False, "error": self.error, **self.more}
