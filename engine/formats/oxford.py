"""`oxford`: two seats a side who alternate, and the room decides by changing its mind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from engine.formats.format import Decision, Format, Roles, Sized
from engine.stage import QUESTIONS, Stage
from engine.stage.shapes import TurnLimits
from engine.values.debate import Request, TurnOrder
from engine.values.language import N_
from engine.values.limits import OxfordLimits
from engine.values.text import marked
from engine.values.verdicts import TIE, Question, Verdict, Vote
from engine.words.translation import say

NAME = "oxford"
ROUNDS = {"opening": "1", "rebuttal": "2", "closing": "1"}
ANSWERS = "2"  # the seat of each side that answers the audience: the other one closes right after
STANCE_OF = {"A": "for", "B": "against"}
ROOM: Mapping[str | None, str] = {
    None: N_("The room has no winner"),
    TIE: N_("The room is undecided"),
    "": N_("The room chooses {winner}"),
}
JURY: Mapping[str | None, str] = {
    None: N_("The jury has no winner"),
    TIE: N_("The jury is undecided"),
    "": N_("The jury chooses {winner}"),
}


class Oxford(Format):
    """Opening by the first seats, rebuttal by the second, closing by the first again."""

    name = NAME
    about = N_("two speakers a side; the side that changes more minds wins")
    version = 1
    turn_order = TurnOrder.SEQUENTIAL
    stance = True
    takes_questions = True
    takes_person = True
    limits = OxfordLimits
    short = Sized({"words": 120})
    long = Sized({"words": 500})

    def roles(self, options: Mapping[str, object]) -> Roles:
        """Return both sides with two seats each."""
        return Roles(self.contenders, seats=("A1", "A2", "B1", "B2"))

    def rounds(self, request: Request) -> tuple[str, ...]:
        """Return the three rounds, and that of the audience's questions if wanted."""
        return self.with_questions(request, tuple(ROUNDS))

    def turns(self, request: Request) -> int:
        """Return the number of turns."""
        return 2 * len(self.rounds(request))

    def waves(self, request: Request) -> int:
        """Return the number of calls in sequence: all."""
        return self.turns(request)

    async def run(self, stage: Stage) -> None:
        """Hold the debate."""
        limits = OxfordLimits.model_validate(stage.limits)
        for round_name in self.rounds(stage.request):
            if round_name == QUESTIONS and not await stage.hear_questions():
                continue
            for side in self.contenders:
                seat = f"{side}{ROUNDS.get(round_name, ANSWERS)}"
                known = max((turn.number for turn in stage.turns if turn.seat == seat), default=0)
                if round_name == QUESTIONS:
                    await stage.answer(seat, opposing=stage.transcript(known), last=True)
                    continue
                await stage.speak(
                    seat,
                    round_name,
                    template=f"{NAME}/speech",
                    limits=TurnLimits(words=limits.words),
                    role="closing" if round_name == "closing" else "debater",
                    opposing=stage.transcript(known),
                    last=round_name == "closing"
                    or (round_name == "rebuttal" and not stage.request.questions),
                    side=side,
                )

    def decide(self, request: Request, stances: Sequence[Vote], panel: Verdict) -> Decision | None:
        """Return the side with the larger gain in its share, of those who answered twice.

        Below the quorum, and where no one answered twice, the panel decides.
        """
        before, after = (
            {
                vote.person: vote.option
                for vote in stances
                if vote.question == question and not vote.ambiguous
            }
            for question in (Question.STANCE_BEFORE, Question.STANCE_AFTER)
        )
        both = before.keys() & after.keys()
        needed = max(1, request.quorum)
        answered = say("People who answered both times: {n}", n=len(both))
        if len(both) < needed:
            verdict = panel.model_copy(update={"rubric": "panel_for_stance"})
            told = say("{answered}; the room decides from {n} on.", answered=answered, n=needed)
            return Decision(verdict, _title(JURY, verdict.winner), told)
        shares = {
            side: (_share(before, both, stance), _share(after, both, stance))
            for side, stance in STANCE_OF.items()
        }
        gains = {side: last - first for side, (first, last) in shares.items()}
        level = abs(gains["A"] - gains["B"]) < 1e-9
        winner = TIE if level else max(gains, key=lambda side: gains[side])
        verdict = Verdict(winner=winner, valid=len(both), invalid=0, rubric="stance", blind=True)
        moved = ", ".join(
            say(
                "{side} {first:.0f}% → {last:.0f}%",
                side=marked(side),
                first=100 * first,
                last=100 * last,
            )
            for side, (first, last) in shares.items()
        )
        told = say(
            "Share of each side, before → after: {moved}. {answered}.",
            moved=moved,
            answered=answered,
        )
        return Decision(verdict, _title(ROOM, winner), told)


def _share(stances: Mapping[int, str], people: set[int], stance: str) -> float:
    return Counter(stances[person] for person in people)[stance] / len(people)


def _title(who: Mapping[str | None, str], winner: str | None) -> str:
    return say(who.get(winner, who[""]), winner=marked(winner or ""))
