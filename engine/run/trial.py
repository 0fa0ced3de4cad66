"""A debate whose right answer is known: what its sides argue, and an open debate's choice of sides.

The answer itself is stored beside the debate (engine/store/debates.py). Nothing here or later
reads it but statistics and exports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import orjson

from engine.prompts import TRIAL
from engine.run.request import exchange
from engine.stage import Stage
from engine.stage.shapes import TEXT, Shape, choice, named
from engine.values.debate import Request, Setup, Source, TrialProtocol, Value
from engine.values.errors import UsageError
from engine.values.language import speaking
from engine.values.source_files import check_sources
from engine.values.sources import PASTED, SourceLimits
from engine.values.topics import Topic, fold_topic
from engine.words.translation import say


def put_on_trial(
    request: Request, topic: Topic | None, limits: SourceLimits
) -> tuple[Request, Mapping[str, str | None]]:
    """Return the request of a debate under a protocol, and the row of its right answer.

    It has its topic's source; agents of a round table read what they choose among. One whose sides
    argue something else stays as it is. Raises UsageError.
    """
    sided = "A" in request.sides
    answer = _seal(topic, request.stances, sided=sided)
    if answer is None and request.protocol is None:
        return request, {}
    protocol = request.protocol or TrialProtocol.DEBATE
    if topic is None or answer is None:
        raise UsageError(
            "The protocol {protocol} is for a question whose right answer is known, and none is "
            "known of “{topic}”; leave protocol out, or take a topic with an answer.",
            protocol=protocol.value,
            topic=request.topic,
        )
    if answer.side is None and protocol is not TrialProtocol.DEBATE:
        raise UsageError(
            "A {name} debate answers a question by itself; leave the protocol {protocol} out, or "
            "choose a format with two sides.",
            name=request.format,
            protocol=protocol.value,
        )
    sources, conditions = request.sources, request.conditions
    if topic.source:
        sources = (*sources, Source(title=PASTED, text=topic.source))
        check_sources(sources, limits)
    if protocol is TrialProtocol.EXPERT and not sources:
        raise UsageError(
            "Under the protocol expert the jury reads the sources, and “{topic}” has none; add "
            "one, or choose another protocol.",
            topic=request.topic,
        )
    if not answer.side:
        with speaking(request.language):
            told = say(
                "The last line of each answer names one of these, and nothing else: {choices}",
                choices=" · ".join(answer.choices),
            )
        conditions = f"{conditions}\n{told}".strip()
    sources = () if protocol is TrialProtocol.DIRECT else sources
    tried = {"protocol": protocol, "conditions": conditions, "sources": sources}
    return request.model_copy(update=tried), answer.row


def _seal(topic: Topic | None, stances: Mapping[str, str], *, sided: bool) -> SealedAnswer | None:
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


class _Choice(Value, extra="ignore"):
    """Which answer a model takes for the right one."""

    side: Literal["A", "B"]


CHOICE = Shape(_Choice, named("Choice", {"reasons": TEXT, "side": choice("A", "B")}))


async def choose_side(stage: Stage, setup: Setup) -> Setup:
    """Let the first model choose what it argues, and the other take the rest.

    Models change their sides, not sides their answers. Without a usable choice all stays as it is.
    """
    answer = await stage.consult(
        f"{TRIAL}/choice",
        setup.request.sides["A"],
        system=f"{TRIAL}/chooser",
        template=f"{TRIAL}/choice",
        shape=CHOICE,
        role="debater",
        side="A",
        again=f"{TRIAL}/again",
        sources=setup.request.sources,
    )
    if answer.value is None:
        return setup
    side = answer.value.side
    request = setup.request if side == "A" else exchange(setup.request)
    return setup.model_copy(update={"request": request, "advocate": side})


# The right answer to what a debate asks, where it is known; few debates have one.


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
