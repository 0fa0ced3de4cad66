"""What a juror reads instead of a debate's texts: neutral names, and nobody's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from engine.jury.identity import clean, find_self_named, replace_names
from engine.jury.references import rewrite

# A replacement can complete another reference; in practice the second pass finds nothing.
_PASSES = 4


def blind(
    text: str, names: Mapping[str, str], hidden: Iterable[str] = (), *, anonymous: bool = True
) -> str:
    """Return a text with sides rewritten to `names` and models' names to `[name]`.

    `names` maps contenders to neutral names; `hidden` are the debaters' model names and
    families. With `anonymous` False (a debate with `blind=off`) models' names stay. Applying
    it to its own result changes nothing.
    """
    return _blind(text, tuple(sorted(names.items())), frozenset(hidden), anonymous)


@lru_cache(maxsize=512)
def _blind(
    text: str, names: tuple[tuple[str, str], ...], hidden: frozenset[str], anonymous: bool
) -> str:
    """Blind one text; cached because every juror of a debate reads the same turns."""
    text = clean(text)
    hidden |= find_self_named((text,))
    for _ in range(_PASSES):
        scrubbed = replace_names(text, hidden) if anonymous else text
        changed = rewrite(scrubbed, dict(names))
        if changed == text:
            break
        text = changed
    return text
