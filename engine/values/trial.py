"""The right answer to what a debate asks, where it is known; few debates have one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from engine.values.debate import Value
from engine.values.topics import fold_topic


class SealedAnswer(Value):
    """The right answer to a debate's question, which is stored beside the debate alone.

    `side` is the one that argues it, None at a round table, whose agents choose among `choices`.
    """

    answer: str
    side: str | None = None
    choices: tuple[str, ...]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> SealedAnswer:
        """Read a row of the table of sealed answers."""
        choices = orjson.loads(row["choices"])
        return cls(answer=row["answer"], side=row["side"], choices=choices)

    @property
    def row(self) -> dict[str, str | None]:
        """Its row, without the debate."""
        choices = orjson.dumps(self.choices).decode()
        return {"answer": self.answer, "side": self.side, "choices": choices}

    def chosen_in(self, text: str) -> str | None:
        """Return the choice that the last line of an agent's final answer names; None if unsure."""
        last = fold_topic(next((one for one in reversed(text.splitlines()) if one.strip()), ""))
        named = [one for one in self.choices if fold_topic(one) in last]
        longest = max(named, key=len, default="")
        others = [one for one in named if fold_topic(one) not in fold_topic(longest)]
        return longest if longest and not others else None
