"""What later turns and the panel would wait for, done while the first call is answered."""

from __future__ import annotations

from engine.blinding.blinding import blind
from engine.blinding.vocabulary import draw_names
from engine.debate import Value
from engine.prompts.library import Prompts


def warm_up(prompts: Prompts, hidden: frozenset[str]) -> None:
    """Compile what finds names, build the values, compile templates; this is for a thread."""
    blind("Side A, the pro side, said", draw_names(("A", "B"), seed=0), hidden)
    build_values()
    prompts.compile()


def build_values() -> None:
    """Build every value that is loaded, so that nothing waits for it later."""
    waiting: list[type[Value]] = [Value]
    while waiting:
        value = waiting.pop()
        value.model_rebuild()
        waiting += value.__subclasses__()
