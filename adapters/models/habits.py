"""Which parameters a model accepts, learned from its refusals, and the resulting request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from engine.values.ports import Call, ChatMessage

# Marks in a prompt up to which a provider caches it, for those that cache nothing unmarked.
#
# `{"cache_control": {"type": "ephemeral"}}` on a text part is Anthropic's. OpenRouter, LiteLLM and
# other gateways take it in chat completions:
# openrouter.ai/docs/guides/best-practices/prompt-caching,
# docs.litellm.ai/docs/completion/prompt_caching. A later prompt finds what was marked if it has the
# same parts up to there, and a mark of its own at most 20 parts on:
# platform.claude.com/docs/en/build-with-claude/prompt-caching.


MOST = 4  # a request with more is refused
EPHEMERAL = {"type": "ephemeral"}


def plain(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Return messages without marks."""
    return [{"role": message.role, "content": message.content} for message in messages]


def places(messages: Sequence[ChatMessage]) -> tuple[tuple[int, int], ...]:
    """Return where a prompt is marked: the first place that is kept, and the last ones.

    A place is a message by its index, and an offset in its text.
    """
    kept = [(index, offset) for index, message in enumerate(messages) for offset in message.kept]
    return tuple(kept if len(kept) <= MOST else (kept[0], *kept[1 - MOST :]))


def mark(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Return messages with marks; a text is cut at every place that is kept, marked or not.

    So its parts stay the same in later prompts, whose marks stand elsewhere.
    """
    marked = frozenset(places(messages))
    written = plain(messages)
    for index, message in enumerate(messages):
        if message.kept:
            written[index]["content"] = list(_parts(index, message, marked))
    return written


def _parts(
    index: int, message: ChatMessage, marked: frozenset[tuple[int, int]]
) -> Iterator[dict[str, Any]]:
    begin = 0
    for end in dict.fromkeys((*message.kept, len(message.content))):
        text: dict[str, Any] = {"type": "text", "text": message.content[begin:end]}
        if (index, end) in marked:
            text["cache_control"] = EPHEMERAL
        if text["text"].strip():  # an empty part is refused
            yield text
        begin = end


CapField = Literal["max_tokens", "max_completion_tokens"]


class Rung(StrEnum):
    """A step of the JSON ladder, from the strictest down."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    PROMPT = "prompt"


@dataclass(frozen=True, slots=True)
class Habits:
    """Which parameters a model takes; `rungs` are the JSON rungs still worth trying.

    `counted`: a stream may be asked for its usage. `marks`: messages say what to cache.
    `session`: the debate may be named.
    """

    cap: CapField = "max_tokens"
    swapped: bool = False
    temperature: bool = True
    rungs: tuple[Rung, ...] = (Rung.SCHEMA, Rung.OBJECT, Rung.PROMPT)
    streams: bool = True
    counted: bool = True
    marks: bool = False
    session: bool = True

    def below(self, complaint: str) -> Habits | None:
        """Return the habits a JSON rung lower; None if a refusal's text does not name the form."""
        if len(self.rungs) < 2 or not _FORM.search(complaint):
            return None
        return replace(self, rungs=self.rungs[1:])

    def without(self, complaint: str) -> Habits | None:
        """Return the habits after a refusal; None if its text names none of our parameters."""
        text = complaint.lower()
        if not self.swapped and self.cap in text:
            other: CapField = "max_completion_tokens" if self.cap == "max_tokens" else "max_tokens"
            return replace(self, cap=other, swapped=True)
        if self.temperature and "temperature" in text:
            return replace(self, temperature=False)
        if self.marks and _MARKING.search(text):
            return replace(self, marks=False)
        if self.session and _NAMING.search(text):
            return replace(self, session=False)
        if self.counted and _COUNTING.search(text):
            return replace(self, counted=False)
        if self.streams and _STREAMING.search(text):
            return replace(self, streams=False)
        return None

    def rung(self, call: Call) -> Rung:
        """Return the rung for a call: `json_object` needs a prompt that says “json”."""
        for rung in self.rungs:
            if rung is not Rung.OBJECT or any(
                "json" in one.content.lower() for one in call.messages
            ):
                return rung
        return Rung.PROMPT


_COUNTING = re.compile(r"stream_options|include_usage")
_STREAMING = re.compile(r"\bstream(?:ing|ed)?\b")  # not "upstream"
# A server refuses the mark itself, or a message that is a list of parts instead of a text.
_MARKING = re.compile(r"cache_control|\bcontent\b|\barray\b|\blist\b")
_NAMING = re.compile(r"session_id|prompt_cache_key")
# A server refuses the field, its kind, the schema in it or the grammar that it makes of that.
_FORM = re.compile(
    r"response_format|json[ _](?:schema|object)|structured[ _]output|grammar|guided[ _]"
    r"|failed to generate json",
    re.IGNORECASE,
)


def streams(call: Call, habits: Habits) -> bool:
    """Return whether to request a stream: there is an audience, and the model supports it."""
    return call.on_text is not None and habits.streams


def request_body(call: Call, habits: Habits, cap: int) -> dict[str, Any]:
    """Return a chat completion's request body for this model; `cap` is in tokens."""
    sampling, own = call.sampling, call.model.configuration
    body: dict[str, Any] = {
        **(sampling.extra or {}),
        "model": call.model.name,
        "messages": mark(call.messages) if habits.marks else plain(call.messages),
        habits.cap: cap,
    }
    if habits.temperature or (own and own.temperature is not None):
        body["temperature"] = sampling.temperature
    if sampling.top_p is not None:
        body["top_p"] = sampling.top_p
    if sampling.effort is not None:
        body["reasoning_effort"] = sampling.effort
    if streams(call, habits):
        body["stream"] = True
        if habits.counted:
            body["stream_options"] = {"include_usage": True}
    if call.schema is not None:
        rung = habits.rung(call)
        if rung is Rung.SCHEMA:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {
                    "name": call.schema.name,
                    "schema": call.schema.json_schema,
                    "strict": call.schema.strict,
                },
            }
        elif rung is Rung.OBJECT:
            body["response_format"] = {"type": "json_object"}
    return body
