"""Server-sent events, and the completion that they make up.

Both are pure: bytes go in as they arrive, in pieces of any size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from adapters.models.completions import model_of, read_finish, read_message, read_text
from adapters.models.faults import decode_raw, join

DONE = "[DONE]"
MOST_TEXT = 2_000_000  # characters read of an answer; no debate needs more
MOST_DATA = 16_000_000  # bytes read of a stream
MOST_EVENT = 4_000_000  # bytes of one event
MOST_LINES = 500_000  # two a token at most, and some more
GROWTH = 1.02  # of a text, between two looks at it
_LINE_END = re.compile(rb"\r\n|\r|\n")
_MARK = b"\xef\xbb\xbf"
_UNREADABLE = {"message": "a part of its stream is not JSON"}


class _Event(NamedTuple):
    """One event: its type (default `message`) and its data."""

    kind: str
    data: str


class _EventReader:
    """Reads an event stream piece by piece (WHATWG HTML, 9.2.6)."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []  # pieces of a line that has not ended
        self._at_start = True
        self._returned = False  # the last piece ended with a carriage return
        self._kind = ""
        self._data: list[str] = []
        self.pending = 0  # bytes of the event that has not ended
        self.lines = 0

    def feed(self, piece: bytes) -> list[_Event]:
        """Return the events that this piece completes; the rest waits for the next."""
        if not piece:
            return []
        if self._returned:
            piece = piece.removeprefix(b"\n")
        self._returned = piece.endswith(b"\r")
        self.pending += len(piece)
        ended, *lines = _LINE_END.split(piece)
        self._rest.append(ended)
        if not lines:
            return []
        lines, rest = [b"".join(self._rest), *lines[:-1]], lines[-1]
        self._rest = [rest]
        self.lines += len(lines)
        return [event for line in lines if (event := self._line(line)) is not None]

    def _line(self, line: bytes) -> _Event | None:
        if self._at_start:
            line, self._at_start = line.removeprefix(_MARK), False
        if not line:
            event = _Event(self._kind or "message", "\n".join(self._data)) if self._data else None
            self._kind, self._data, self.pending = "", [], 0
            return event
        name, _, value = line.partition(b":")  # a comment is a line whose name is empty
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if name == b"data":
            self._data.append(text)
        elif name == b"event":
            self._kind = text
        return None


class Completion:
    """A streamed chat completion so far.

    `heard` is called with what was said so far and the model as text arrives, less often as it
    grows long. One with too much in it ends as at a token cap; it is `endless` if it had no text at
    all, `stopped` if its server ended it without saying why, and `misheard` if what was heard
    turned out to be thought.
    """

    def __init__(self, asked: str, heard: Callable[[str, str], None]) -> None:
        self._heard = heard
        self._events = _EventReader()
        self._model = asked
        self._texts: list[str] = []
        self._length = self._told = 0
        self._reasoning: list[str] = []
        self._refusal = self._finish = self._said = ""
        self.usage: Any = None
        self._error: Any = None
        self.size = 0
        self.begun = self.endless = self.misheard = False
        self._over = False

    @property
    def complete(self) -> bool:
        """Whether it has ended, possibly with an error of the backend."""
        return self._over or bool(self._finish)

    @property
    def answered(self) -> bool:
        """Whether it has ended with a text, and not with an error."""
        failed = self._error or read_finish(self._finish) == "error"
        return self.complete and not failed and self._length > 0

    @property
    def stopped(self) -> bool:
        """Whether it ended in the middle: llama-cpp-python drops one call for the next."""
        return self.answered and not self._finish

    def take(self, piece: bytes) -> bool:
        """Add a piece of the stream; False if the rest does not matter, or it is endless."""
        self.begun = True
        self.size += len(piece)
        for event in self._events.feed(piece):
            if not self._over:
                self._add(event)
        # Each time the whole text is read: for every character of a long one that takes a minute.
        if self._length > self._told * (1 if self.complete else GROWTH):
            self._told = self._length
            said = read_text(join(self._text)[0])[0]
            self.misheard |= len(said) < len(self._said) // 2
            self._said = said
            self._heard(said, self._model)
        much = self._length > MOST_TEXT or self.size > MOST_DATA
        much = much or self._events.pending > MOST_EVENT or self._events.lines > MOST_LINES
        if much and not self._over:
            self._finish, self._over, self.endless = "length", True, not self._length
        return not self._over

    @property
    def _text(self) -> str:
        self._texts = ["".join(self._texts)]
        return self._texts[0]

    def body(self) -> bytes:
        """Return it as the JSON of an unstreamed response."""
        message = {
            "role": "assistant",
            "content": self._text,
            "refusal": self._refusal or None,
            "reasoning_content": "".join(self._reasoning) or None,
        }
        whole: dict[str, Any] = {
            "model": self._model,
            "choices": [{"index": 0, "message": message, "finish_reason": self._finish or "stop"}],
        }
        if self.usage:
            whole["usage"] = self.usage
        if self._error:
            whole["error"] = self._error
        # Lone surrogates stay escaped; answers.py reads them.
        return json.dumps(whole).encode()

    def _add(self, event: _Event) -> None:
        if event.data.strip() == DONE:
            self._over = True
            return
        try:
            chunk = decode_raw(event.data)
        except orjson.JSONDecodeError:
            chunk = {"error": event.data if event.kind == "error" else _UNREADABLE}
        if not isinstance(chunk, dict):
            chunk = {"error": _UNREADABLE}
        error = chunk.get("error") or (chunk if event.kind == "error" else None)
        if error:
            self._error, self._over = error, True
        self.usage = chunk.get("usage") or self.usage
        self._model = model_of(chunk, self._model)
        choices = chunk.get("choices")
        listed = choices if isinstance(choices, list) else []
        for choice in [each for each in listed if isinstance(each, dict) and not each.get("index")]:
            text, refusal, reasoning = read_message(choice.get("delta"))
            self._texts.append(text)
            self._length += len(text)
            self._refusal = (self._refusal + refusal)[:MOST_TEXT]
            self._reasoning.append(reasoning)
            self._finish = str(choice.get("finish_reason") or self._finish)
            if choice.get("error"):
                self._error, self._over = choice["error"], True
