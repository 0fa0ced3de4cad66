"""A neutral summary of a debate by one of its jurors, who reads it as blind as the others."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from functools import partial

from engine.blinding.transcript import BLINDER, Scribe
from engine.floor.steps import Caller
from engine.jury.panel import Panel
from engine.jury.plan import rotations
from engine.prompts.library import Prompts
from engine.values.debate import Debate, Turn, TurnOrder
from engine.values.errors import ModelError
from engine.values.judging import Summary
from engine.values.ports import Call, ChatMessage
from engine.values.text import SIDES, clean, headline, marked, rename

STEP = "summary"
FEWEST, MOST = 400, 600  # characters
_SENTENCE = re.compile(r"[.!?…][\"'”’»)]*(?=\s|$)|[。！？][”’」』）]*")


async def summarise(
    debate: Debate,
    turns: Sequence[Turn],
    prompts: Prompts,
    steps: Caller,
    scribe: Scribe,
    begun: asyncio.Event | None = None,
) -> Summary:
    """Return the summary by the roster's last juror, who often reads nothing else.

    It waits until the panel has `begun`.

    One over 600 characters is cut at a sentence, one under 400 is marked. Without an answer there
    is none. Raises what stops a debate.
    """
    if begun is not None:
        await begun.wait()
    call = await _ask_for(debate, turns, prompts, steps, scribe)
    try:
        reply = await steps.call(call)
    except ModelError as error:
        return Summary(problem=error.problem)
    text = _by_side(reply.text, debate.setup.names)
    return _fit(text) if text else Summary(problem="the answer is empty")


async def _ask_for(
    debate: Debate, turns: Sequence[Turn], prompts: Prompts, steps: Caller, scribe: Scribe
) -> Call:
    """Return the juror's call: a ballot's prompt, which providers have cached, up to the task."""
    setup, request = debate.setup, debate.request
    together = request.turn_order is TurnOrder.SIMULTANEOUS
    lay_out = partial(scribe.lay_out, tuple(turns), simultaneous=together)
    transcript = await asyncio.get_running_loop().run_in_executor(BLINDER, lay_out)
    panel = Panel(debate, transcript, prompts, steps)
    order = rotations(setup.panel, tuple(request.sides))[0]
    variables = panel.variables(order) | {"fewest": FEWEST, "most": MOST}
    shown = panel.show(variables)
    asked, system = (prompts.render(f"jury/{part}", **variables) for part in ("summary", "system"))
    cue = {"kind": STEP, "topic": request.topic, "language": request.language}
    return Call(
        STEP,
        setup.panel.roster[-1],
        messages=(
            ChatMessage(role="system", content=system),
            ChatMessage(role="user", content=f"{shown}\n\n{asked}"),
        ),
        sampling=setup.sampling["juror"],
        cue=cue | {"shown": ",".join(setup.names[side] for side in request.sides)},
        role="juror",
    )


def _by_side(text: str, names: Mapping[str, str]) -> str:
    """Return a text as one paragraph, with sides and their marks in place of neutral names."""
    sides = {name: marked(side) for side, name in names.items()}
    return rename(" ".join(clean(text).split()), sides)


def _length(text: str) -> int:
    """Return how long a text is without the marks of its sides, which no juror writes."""
    return len(text) - sum(text.count(mark) * (len(mark) + 1) for mark in SIDES.values())


def _fit(text: str) -> Summary:
    """Return a text within the limit, cut after the last whole sentence that fits."""
    if FEWEST <= _length(text) <= MOST:
        return Summary(text=text)
    if _length(text) < FEWEST:
        return Summary(text=text, fit="too_short")
    wholes = [text[: end.end()] for end in _SENTENCE.finditer(text)]
    if fits := [whole for whole in wholes if FEWEST // 2 <= _length(whole) <= MOST]:
        return Summary(text=fits[-1], fit="trimmed")
    return Summary(text=headline(text, MOST), fit="cut")
