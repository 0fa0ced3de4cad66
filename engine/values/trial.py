"""The right answer to what a debate asks, where it is known; few debates have one."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import orjson

from engine.values.debate import Value
from engine.values.options import STANCES
from engine.values.topics import Topic, fold_topic


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


def draw_claims(topic: Topic, seed: int) -> dict[str, str]:
    """Return the stances of both sides: the answer and another choice, in a drawn order.

    With two choices nothing of that depends on which of them is right.
    """
    wrong = Random(f"claims/{seed}").choice([one for one in topic.choices if one != topic.answer])
    claims = [one for one in topic.choices if one in (topic.answer, wrong)]
    Random(f"claims/{seed}/order").shuffle(claims)
    return dict(zip(STANCES.values(), claims, strict=True))


def seal(topic: Topic | None, stances: Mapping[str, str], *, sided: bool) -> SealedAnswer | None:
    """Return the right answer of a debate on a listed topic; `stances` are by side.

    None where none is known, or where the sides argue something else.
    """
    if topic is None or not topic.answer:
        return None
    choices = topic.choices or (topic.stance_a, topic.stance_b)
    if not sided:
        return SealedAnswer(answer=topic.answer, choices=choices)
    side = next((side for side, claim in stances.items() if claim == topic.answer), None)
    return SealedAnswer(answer=topic.answer, side=side, choices=choices) if side else None
