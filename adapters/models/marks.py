"""Marks in a prompt up to which a provider caches it, for those that cache nothing unmarked.

`{"cache_control": {"type": "ephemeral"}}` on a text part is Anthropic's. OpenRouter, LiteLLM and
other gateways take it in chat completions: openrouter.ai/docs/guides/best-practices/prompt-caching,
docs.litellm.ai/docs/completion/prompt_caching. A later prompt finds what was marked if it has the
same parts up to there, and a mark of its own at most 20 parts on:
platform.claude.com/docs/en/build-with-claude/prompt-caching.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from engine.values.ports import ChatMessage

MOST = 4  # a request with more is refused
EPHEMERAL = {"type": "ephemeral"}


class Place(NamedTuple):
    """A place in a prompt: a message by its index, and an offset in its text."""

    message: int
    offset: int


def plain(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """Return messages without marks."""
    return [{"role": message.role, "content": message.content} for message in messages]


def places(messages: Sequence[ChatMessage]) -> tuple[Place, ...]:
    """Return where a prompt is marked: the first place that is kept, and the last ones."""
    kept = [
        Place(index, offset) for index, message in enumerate(messages) for offset in message.kept
    ]
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


def _parts(index: int, message: ChatMessage, marked: frozenset[Place]) -> Iterator[dict[str, Any]]:
    begin = 0
    for end in dict.fromkeys((*message.kept, len(message.content))):
        text: dict[str, Any] = {"type": "text", "text": message.content[begin:end]}
        if Place(index, end) in marked:
            text["cache_control"] = EPHEMERAL
        if text["text"].strip():  # an empty part is refused
            yield text
        begin = end
