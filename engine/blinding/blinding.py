"""Blinds a text for jurors: neutral names in place of sides and models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from engine.blinding.identity import clean, find_self_named, replace_names
from engine.blinding.references import rewrite

# A replacement can complete another reference; in practice the second pass finds nothing.
_PASSES = 4


# One thread: blinding is pure Python, and several would only take the loop's time.
BLINDER = ThreadPoolExecutor(1, thread_name_prefix="blinder")


def blind(
    text: str, names: Mapping[str, str], hidden: Iterable[str] = (), *, anonymous: bool = True
) -> str:
    """Return a text with sides rewritten to `names` and models' names to `[name]`.

    `names` maps contenders to neutral names; `hidden` are the debaters' model names and
    families. With `anonymous` False (a debate with `blind=off`) models' names stay. Applying
    it to its own result changes nothing.
    """
    text = clean(text)
    every = frozenset(hidden) | find_self_named((text,))
    for _ in range(_PASSES):
        scrubbed = replace_names(text, every) if anonymous else text
        changed = rewrite(scrubbed, names)
        if changed == text:
            break
        text = changed
    return text
