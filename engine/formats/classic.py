"""`classic`: two sides, four rounds, and only the opponent's last words in between."""

from __future__ import annotations

from engine.debate import Request, TurnOrder, Value
from engine.floor.floor import Floor
from engine.floor.limits import TurnLimits
from engine.formats.format import Format


class ClassicLimits(Value):
    """The format's limits: words and arguments a turn, and the closing's two parts."""

    words: int = 500
    arguments: int = 3
    synthesis_chars: int = 500
    decision_words: int = 200


class Classic(Format):
    """Opening, rebuttal (as often as asked), assumptions, closing; A speaks, then B.

    Sequential turns show A what B said a round ago, and B what A has just said; simultaneous
    ones show both the round before, which takes the last word away.
    """

    name = "classic"
    version = 1
    takes_rounds = True

    def rounds(self, request: Request) -> tuple[str, ...]:
        """Return the rounds in order; further rebuttals are numbered from 2."""
        more = (f"rebuttal-{number}" for number in range(2, request.rounds + 1))
        return ("opening", "rebuttal", *more, "assumptions", "closing")

    def turns(self, request: Request) -> int:
        """Return how many turns a debate has."""
        return 2 * len(self.rounds(request))

    def waves(self, request: Request) -> int:
        """Return how many calls of the script have to wait for one another."""
        together = request.turn_order is TurnOrder.SIMULTANEOUS
        return len(self.rounds(request)) * (1 if together else 2)

    async def run(self, floor: Floor) -> None:
        """Hold the debate."""
        last_a = last_b = None
        for round_name in self.rounds(floor.request):
            if floor.request.turn_order is TurnOrder.SIMULTANEOUS:
                last_a, last_b = await floor.all_at_once(
                    self._speak(floor, "A", round_name, last_b),
                    self._speak(floor, "B", round_name, last_a),
                )
            else:
                last_a = await self._speak(floor, "A", round_name, last_b)
                last_b = await self._speak(floor, "B", round_name, last_a)

    async def _speak(self, floor: Floor, seat: str, round_name: str, opposing: str | None) -> str:
        kind = round_name.split("-")[0]
        return await floor.speak(
            seat,
            round_name,
            template=f"classic/{seat.lower()}/{kind}",
            limits=limits_of(floor, kind),
            role="closing" if kind == "closing" else "debater",
            opposing=opposing,
        )


def limits_of(floor: Floor, kind: str) -> TurnLimits:
    """Return the limits of a round: a closing has parts, every other turn words and arguments."""
    limits = ClassicLimits.model_validate(floor.limits)
    if kind == "closing":
        return TurnLimits(
            synthesis_chars=limits.synthesis_chars, decision_words=limits.decision_words
        )
    return TurnLimits(words=limits.words, arguments=limits.arguments)
