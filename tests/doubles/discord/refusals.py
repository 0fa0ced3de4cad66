"""What Discord says when it refuses: an HTTP status and one of its JSON error codes."""

from __future__ import annotations

from typing import Any, Final

Json = dict[str, Any]

MESSAGES: Final = {
    0: (404, "404: Not Found"),
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10013: (404, "Unknown User"),
    10014: (400, "Unknown Emoji"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    10063: (404, "Unknown application command"),
    30010: (400, "Maximum number of reactions reached (20)"),
    30032: (400, "Maximum number of application commands reached (100)."),
    30046: (
        429,
        "Maximum number of edits to messages older than 1 hour reached. Try again later.",
    ),
    40005: (413, "Request entity too large"),
    40060: (400, "Interaction has already been acknowledged."),
    50001: (403, "Missing Access"),
    50007: (403, "Cannot send messages to this user"),
    50008: (400, "Cannot send messages in a non-text channel"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50013: (403, "Missing Permissions"),
    50024: (400, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50035: (400, "Invalid Form Body"),
    50083: (400, "Thread is archived"),
    50109: (400, "The request body contains invalid JSON."),
    160004: (400, "A thread has already been created for this message"),
    160005: (403, "Thread is locked"),
    160006: (400, "Maximum number of active threads reached"),
}


class Refusal(Exception):  # noqa: N818 - it is Discord's answer, not a failure of the double
    """Discord refused a request; `code` is its JSON error code, 0 when it has none."""

    def __init__(
        self, code: int, *, status: int = 0, message: str = "", errors: Any = None
    ) -> None:
        usual_status, usual_message = MESSAGES.get(code, (400, "Bad Request"))
        self.code = code
        self.status = status or usual_status
        self.message = message or usual_message
        self.errors = errors
        super().__init__(f"{self.status} (error code {code}): {self.message} {errors or ''}")

    def body(self) -> Json:
        """Return the JSON that Discord answers with."""
        body: Json = {"message": self.message, "code": self.code}
        if self.errors is not None:
            body["errors"] = self.errors
        return body


class Faulty:
    """Collects what is wrong with a form, field by field, as Discord reports it."""

    def __init__(self) -> None:
        self._errors: Json = {}

    def add(self, path: str, code: str, message: str) -> None:
        """Note a fault of the field at a dotted path such as `embeds.0.title`."""
        at = self._errors
        for name in path.split("."):
            at = at.setdefault(name, {})
        at.setdefault("_errors", []).append({"code": code, "message": message})

    def length(self, path: str, value: Any, most: int, least: int = 0) -> None:
        """Note a text that is too long, too short or no text."""
        if not isinstance(value, str):
            self.add(path, "STRING_TYPE_CONVERT", "Could not interpret value as string.")
        elif len(value) > most:
            self.add(path, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")
        elif len(value) < least:
            self.add(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")

    def count(self, path: str, value: Any, most: int, least: int = 0) -> bool:
        """Note a list with too many or too few entries; say whether it is a list at all."""
        if not isinstance(value, list):
            self.add(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType.")
            return False
        if not least <= len(value) <= most:
            self.add(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")
        return True

    def check(self) -> None:
        """Raise the refusal, if anything was noted."""
        if self._errors:
            raise Refusal(50035, errors=self._errors)
