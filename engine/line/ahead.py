"""Warm-up for later turns and the jury, done while the first model call is in flight."""

from __future__ import annotations

from engine.blinding.identity import draw_names
from engine.blinding.transcript import blind
from engine.prompts.library import Prompts
from engine.values.debate import Value


def warm_up(prompts: Prompts, hidden: frozenset[str]) -> None:
    """Compile name patterns, value models and templates; run this in a thread."""
    blind("Side A, the pro side, said", draw_names(("A", "B"), seed=0), hidden)
    build_values()
    prompts.compile()


def build_values() -> None:
    """Build the validators of every loaded value, so that nothing waits for them later."""
    waiting: list[type[Value]] = [Value]
    while waiting:
        value = waiting.pop()
        value.model_rebuild()
        waiting += value.__subclasses__()
