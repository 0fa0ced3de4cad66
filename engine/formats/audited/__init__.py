"""`audited`: a judge that audits each turn's reasoning, and debaters that adapt to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

from engine.formats.audited.judge import Audit
from engine.formats.audited.result import conclude
from engine.formats.audited.scores import Archetypes
from engine.formats.format import Format, Names, Roles, Sized
from engine.stage import Stage
from engine.stage.shapes import TurnLimits
from engine.values.debate import Request, TurnOrder, Value
from engine.values.errors import UsageError
from engine.values.language import N_
from engine.values.limits import AuditedLimits
from engine.words.translation import say

NAME = "audited"
ADAPT = N_(
    "The debaters adapt: the loser of an exchange argues a little differently in the next turn. "
    "How they changed is shown at the end."
)


def _for_both(value: object) -> object:
    """Read one value for both sides, or A's and B's, separated by a comma."""
    parts = value.split(",") if isinstance(value, str) else value
    parts = list(parts) if isinstance(parts, list | tuple) else [parts]
    return parts * 2 if len(parts) == 1 else parts


Share = Annotated[float, Field(ge=0, le=1)]


class _AuditedOptions(Value):
    """How many turns, who the debaters are, and how easily they change.

    `archetypes` are names of the data file, and `elasticity` is a share, for A and then B.
    """

    turns: int = Field(10, ge=2, le=40)
    archetypes: Names = ("engineer", "philosopher")
    elasticity: Annotated[tuple[Share, Share], BeforeValidator(_for_both)] = (0.5, 0.5)


class Audited(Format):
    """A and B in turn; after each turn the judge layer scores it and presses the loser."""

    name = NAME
    about = N_("both sides argue turn by turn; a judge checks each turn, and its loser must adapt")
    version = 1
    files = True
    options = _AuditedOptions
    turn_order = TurnOrder.SEQUENTIAL
    limits = AuditedLimits
    short = Sized({"words": 120}, options={"turns": 6})
    long = Sized({"words": 400}, options={"turns": 14})

    def roles(self, options: Mapping[str, object]) -> Roles:
        """Return both sides, and one judge."""
        named = _AuditedOptions.model_validate(options).archetypes
        if len(named) != len(self.contenders):
            raise UsageError(
                "audited needs two archetypes, for A and for B, and has {n}.",
                n=len(named),
            )
        return Roles(self.contenders, judges=1)

    def rounds(self, request: Request) -> tuple[str, ...]:
        """Return the exchanges, numbered from 1; the last may be A's alone."""
        return tuple(f"exchange-{number}" for number in range(1, (self.turns(request) + 3) // 2))

    def turns(self, request: Request) -> int:
        """Return the number of turns."""
        return _AuditedOptions.model_validate(request.options).turns

    def waves(self, request: Request) -> int:
        """Return the number of calls in sequence: a turn, its scores; then two more.

        The last of them is asked beside the panel.
        """
        return 2 * self.turns(request) + 1

    async def run(self, stage: Stage) -> None:
        """Hold the debate."""
        options = _AuditedOptions.model_validate(stage.request.options)
        limits = AuditedLimits.model_validate(stage.limits)
        elasticity = dict(zip("AB", options.elasticity, strict=True))
        known = stage.prompts.data(f"{NAME}/archetypes", Archetypes).archetypes
        for name in options.archetypes:
            if name not in known:
                raise UsageError(
                    "There is no archetype “{name}”; choose from {known}.",
                    name=name,
                    known=tuple(known),
                )
        audit = Audit(stage, dict(zip("AB", options.archetypes, strict=True)), elasticity)
        await stage.tell("audited/adapt", say(ADAPT))
        last = ""
        for number in range(1, options.turns + 1):
            side, final = "A" if number % 2 else "B", number > options.turns - 2
            last = await stage.speak(
                side,
                f"exchange-{(number + 1) // 2}",
                template=f"{NAME}/turn",
                limits=TurnLimits(words=limits.words),
                opposing=last,
                last=final,
                side=side,
                number=number,
                final=final,
                traits=audit.describe(side),
                **await audit.direct(side, number),
            )
            if number == options.turns:
                stage.adjourn()
            await audit.score(number, side)
        await conclude(stage, audit)
