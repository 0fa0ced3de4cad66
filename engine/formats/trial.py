"""The script of a protocol in which no side is opposed: one side's speeches, or none at all."""

from __future__ import annotations

from collections.abc import Mapping

from engine.formats.format import Format, Roles
from engine.prompts import TRIAL
from engine.stage import Stage
from engine.stage.shapes import TurnLimits
from engine.values.debate import Request, TrialProtocol
from engine.values.language import N_

ROUNDS = ("opening", "assumptions", "closing")  # of a consultant
WORDS = 300  # a turn, in formats without such a limit
ABOUT = {
    TrialProtocol.DIRECT: N_("no one argues; the jury answers alone"),
    TrialProtocol.EXPERT: N_("no one argues; the jury answers from the sources"),
    TrialProtocol.CONSULTANCY: N_("one side argues its answer, right or wrong, and no one replies"),
}


class Unopposed(Format):
    """A consultancy, or a question that the jury answers alone, in place of a format's own script.

    It has the format's name, options and limits, so that an experiment compares what is otherwise
    the same.
    """

    def __init__(self, protocol: TrialProtocol, script: Format) -> None:
        self._script = script
        self.name, self.version, self.about = script.name, script.version, ABOUT[protocol]
        self.options, self.limits = script.options, script.limits
        self.short, self.long = script.short, script.long
        self.default_rounds, self.takes_rounds = script.default_rounds, script.takes_rounds
        self.turn_order, self.question = script.turn_order, script.question

    def roles(self, options: Mapping[str, object]) -> Roles:
        """Return the sides alone."""
        return Roles(self._script.roles(options).contenders)

    def rounds(self, request: Request) -> tuple[str, ...]:
        """Return the consultant's rounds, if there is one."""
        return ROUNDS if request.protocol is TrialProtocol.CONSULTANCY else ()

    def turns(self, request: Request) -> int:
        """Return the number of turns."""
        return len(self.rounds(request))

    def waves(self, request: Request) -> int:
        """Return the number of calls in sequence: all."""
        return self.turns(request)

    async def hold(self, stage: Stage) -> None:
        """Let a consultant look things up and speak; without one nothing is said."""
        if self.rounds(stage.request):
            await super().hold(stage)

    async def run(self, stage: Stage) -> None:
        """Let the consultant speak."""
        words = int(stage.limits.get("words", WORDS))
        for round_name in ROUNDS:
            await stage.speak(
                stage.advocate,
                round_name,
                template=f"{TRIAL}/speech",
                limits=TurnLimits(words=words),
                last=round_name == ROUNDS[-1],
                side=stage.advocate,
            )
