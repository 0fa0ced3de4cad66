"""Posts without the models' names, for voters and judges, until the reveal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.blinding.identity import redact
from engine.store import Post
from engine.values.messages import MESSAGE

_PLAIN = frozenset({"kind", "side", "media"})  # keys whose values are fixed words


def redact_post(post: Post, names: Iterable[str]) -> Post:
    """Take models' names out of a post: scores may be live, names never are."""
    hidden = frozenset(names)

    def veil(value: Any, key: str = "") -> Any:
        if isinstance(value, str) and key not in _PLAIN:
            return redact(value, hidden)
        if isinstance(value, dict):
            return {name: veil(item, name) for name, item in value.items()}
        return [veil(item) for item in value] if isinstance(value, list | tuple) else value

    message = MESSAGE.validate_python(veil(post.message.model_dump()))
    return post.model_copy(update={"message": message})
