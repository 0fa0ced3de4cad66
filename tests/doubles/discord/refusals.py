"""What Discord says when it refuses: an HTTP status and one of its JSON error codes."""

from __future__ import annotations

from typing import Any

from tests.doubles.facts import Code

Json = dict[str, Any]


class Refusal(Exception):  # noqa: N818 - it is Discord's answer, not a failure of the double
    """Discord refused a request; with one of its JSON error codes."""

    def __init__(
        self, code: Code, *, status: int = 0, message: str = "", errors: Any = None
    ) -> None:
        self.code = code
        self.status = status or code.status
        self.message = message or code.said
        self.errors = errors
        super().__init__(f"{self.status} (error code {code.value}): {self.message} {errors or ''}")

    def body(self) -> Json:
        """Return the JSON that Discord answers with."""
        body: Json = {"message": self.message, "code": self.code.value}
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
            raise Refusal(Code.INVALID_FORM, errors=self._errors)
