"""The benches of a `team` debate: what each seat may read, how it speaks, whom captains send."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from engine.debate import Length, Turn, Value
from engine.findings import Artifact
from engine.floor.floor import Floor
from engine.floor.limits import TurnLimits
from engine.floor.schema import TEXT, choice, named
from engine.floor.shapes import Answer, Fault, Shape
from engine.formats.team.channels import PUBLIC, Channels, team_channel
from engine.formats.team.judge import Judge
from engine.formats.team.manual import CLOSERS, NAME, POSITIONS, SEATS, Manual, Personality
from engine.formats.team.rules import sure_speeches

RECENT = 6  # public speeches that a captain goes by


class TeamLimits(Value):
    """The clock: words a minute, minutes of each kind of speech, and of free debate a team.

    Without minutes for them there are no summaries. `exchanges` are those of the
    cross-examination; `free_speeches` is how many a team gives at most in the free debate, as
    far as its time allows.
    """

    words_a_minute: float = Field(250, gt=0)
    opening_minutes: float = Field(3, gt=0)
    question_minutes: float = Field(0.5, gt=0)
    answer_minutes: float = Field(1, gt=0)
    summary_minutes: float = Field(2, ge=0)
    closing_minutes: float = Field(3, gt=0)
    exchanges: int = Field(4, ge=1, le=4)
    free_speeches: int = Field(100, ge=1)
    free_minutes: float = Field(4, gt=0)
    free_speech_minutes: float = Field(0.6, gt=0)

    def minutes(self, minutes: float) -> int:
        """Return how many words fit into so many minutes."""
        return max(1, round(minutes * self.words_a_minute))

    @property
    def free_speech(self) -> int:
        """Words of a speech in the free debate."""
        return self.minutes(self.free_speech_minutes)

    @property
    def least_speech(self) -> int:
        """Words that a speech in the free debate costs at least, and without which there is none.

        A third of its time: a few words cost as much, so that nobody spins the debate out.
        """
        return math.ceil(self.free_speech / 3)


class Choice(BaseModel):
    """A captain's choice of who speaks, and in which direction."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    speaker: str
    direction: str = ""


class Bench:
    """Both teams at work; whatever they know is in the channels."""

    def __init__(
        self,
        floor: Floor,
        judge: Judge,
        limits: TeamLimits,
        manual: Manual,
        personalities: Mapping[str, Personality],
    ) -> None:
        self._floor = floor
        self._judge = judge
        self._limits = limits
        self._manual = manual
        self._personalities = personalities
        self._channels = Channels()
        self._answered: Counter[str] = Counter()
        self._spoken: Counter[str] = Counter()
        self._heard: set[str] = set()
        self._stage = ""

    @property
    def _brief(self) -> bool:
        """Whether the debate is a short one: few messages, and few calls."""
        return self._floor.request.length is Length.SHORT

    async def begin(self, stage: str) -> None:
        """Head a stage."""
        self._stage = stage
        if not self._brief:  # there, each speech names its stage, and that is enough
            await self._floor.tell(f"stage/{stage.replace(' ', '-')}", f"Stage: {stage}")

    def end(self, stage: str) -> None:
        """Have the judge sum a stage up, unless it is two brief speeches."""
        if not self._brief or stage not in ("opening", "closing"):
            self._judge.sum_up(stage)

    async def speak(
        self, seat: str, round_name: str, duty: str, words: int, role: str = "debater"
    ) -> Turn:
        """Let a seat speak for so many words, from what it can read."""
        turn = await self._floor.say(
            seat,
            round_name,
            system=f"{NAME}/system",
            template=f"{NAME}/speech",
            limits=TurnLimits(words=words),
            role=role,
            words_a_minute=self._limits.words_a_minute,
            record=self._channels.read(seat, PUBLIC),
            directions=self._channels.read(seat, team_channel(seat[0])),
            duty=duty,
            task=self._manual.tasks[duty],
            stage=self._stage,
            position=self._manual.positions[seat[1:]],
            personality=self._personalities[seat],
            violations=self._manual.violations,
            counted="yes",
        )
        self._channels.write(PUBLIC, f"{seat}, {self._stage}", turn.text)
        if duty == "answer":
            self._answered[seat] += 1
        if duty == "free":
            self._spoken[seat] += 1
        self._heard.add(seat)
        self._judge.score(turn, self._stage, duty)
        return turn

    async def choose_answerer(self, side: str, round_name: str) -> str:
        """Return who answers: the captain's choice of seats 2 and 3, else who answered less."""
        seats = (f"{side}2", f"{side}3")
        fewest = min(seats, key=lambda seat: (self._answered[seat], seat))
        return await self._choose(side, round_name, seats, fewest, counts=self._answered)

    async def choose_speaker(self, side: str, round_name: str, left: Mapping[str, int]) -> str:
        """Return who speaks next in the free debate, `left` being each team's words.

        The captain chooses; but a seat that has not spoken goes first when the time left would
        otherwise not reach it, and an invalid choice falls to whoever has spoken least.
        """
        seats = tuple(seat for seat in SEATS if seat[0] == side)
        silent = [seat for seat in seats if self._owed(seat)]
        other = left["B" if side == "A" else "A"]
        limits = self._limits
        sure = sure_speeches(left[side], other, limits.free_speech, limits.least_speech)
        sure = min(sure, limits.free_speeches - sum(self._spoken[seat] for seat in seats))
        due = silent[0] if len(silent) >= max(1, sure) else None
        fewest = min(seats, key=lambda seat: (self._spoken[seat], seat))
        return await self._choose(
            side, round_name, seats, fewest, counts=self._spoken, left=left[side], due=due
        )

    def _owed(self, seat: str) -> bool:
        """Return whether a seat has to speak in the free debate yet.

        Each of the four does; with fewer speeches only those that would not speak otherwise.
        """
        if self._limits.free_speeches < len(POSITIONS):
            return seat not in self._heard and seat not in CLOSERS
        return not self._spoken[seat]

    async def report_unused(self, left: Mapping[str, int]) -> None:
        """Say how much time each team has left when the free debate ends."""
        if self._brief:
            return
        rate = self._limits.words_a_minute
        unused = ", ".join(f"{side} {_clock(max(0, left[side]) / rate)}" for side in "AB")
        silent = [seat for seat in SEATS if not self._spoken[seat]]
        missed = f" {', '.join(silent)} did not speak." if silent else ""
        await self._floor.tell(
            "free-debate/unused", f"The free debate ends. Unused time: {unused}.{missed}"
        )

    # --- captains -----------------------------------------------------------------------

    async def _choose(
        self,
        side: str,
        round_name: str,
        seats: tuple[str, ...],
        fallback: str,
        *,
        counts: Mapping[str, int],
        left: int | None = None,
        due: str | None = None,
    ) -> str:
        captain = f"{side}1"
        answer = await self._floor.consult(
            f"captain/{round_name}/{side}",
            self._floor.request.model_of(captain),
            system=f"{NAME}/captain",
            template=f"{NAME}/choice",
            shape=_choice_shape(seats),
            role="captain",
            side=side,
            team=self._channels.read(captain, team_channel(side)),
            recent=self._channels.read(captain, PUBLIC, last=RECENT),
            counts={seat: counts[seat] for seat in seats},
            silent=[seat for seat in seats if not counts[seat]],
            left=left,
            stage=self._stage,
            seats=seats,
        )
        picked = answer.value.speaker if answer.valid and answer.value else None
        chosen = due or picked or fallback
        direction = answer.value.direction if answer.valid and answer.value else ""
        if direction and chosen == picked:
            text = f"{chosen} speaks next. {direction}"
        else:
            text = f"{chosen} speaks next."
        self._channels.write(team_channel(side), "captain", text)
        await self._keep_choice(round_name, side, answer, chosen, due)
        return chosen

    async def _keep_choice(
        self, round_name: str, side: str, answer: Answer[Choice], chosen: str, due: str | None
    ) -> None:
        value = answer.value if answer.valid else None
        if value is None:
            how = "fallback"
        else:
            how = "precedence" if due and due != value.speaker else "captain"
        body = {
            "side": side,
            "round": round_name,
            "chosen": chosen,
            "how": how,
            "wanted": value.speaker if value else None,
            "direction": value.direction if value else "",
            "raw": "" if value else answer.raw,
            "problem": answer.problem,
        }
        said = str(body["direction"]) if chosen == body["wanted"] else ""
        self._judge.note_choice(side, round_name, chosen, how, said)
        name = f"captain/{round_name}/{side}"
        artifact = Artifact.of(name, "captain", body, valid=value is not None)
        await self._floor.keep(artifacts=[artifact])


def _choice_shape(seats: tuple[str, ...]) -> Shape[Choice]:
    def check(given: Choice) -> tuple[Fault, ...]:
        if given.speaker in seats:
            return ()
        return (Fault(kind="wrong_seat", what=f"speaker is none of {', '.join(seats)}"),)

    return Shape(Choice, named("Choice", {"speaker": choice(*seats), "direction": TEXT}), check)


def _clock(minutes: float) -> str:
    seconds = round(60 * minutes)
    return f"{seconds // 60}:{seconds % 60:02d}"
