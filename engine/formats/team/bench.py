"""The benches of a `team` debate: what each seat may read, how it speaks, how captains choose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from engine.formats.team.judge import Judge
from engine.formats.team.rules import (
    NAME,
    PUBLIC,
    SEATS,
    Channels,
    FreeClock,
    Manual,
    Personality,
    free_clock,
    notes_channel,
    team_channel,
    tell_clock,
)
from engine.prompts import QuotedSpeech, SpeechRecord
from engine.stage import Stage
from engine.stage.forms import OneOf, form
from engine.stage.shapes import (
    AnswerPart,
    ShapedAnswer,
    TurnLimits,
)
from engine.values.debate import Length, Turn
from engine.values.limits import TeamLimits
from engine.values.text import clean, marked
from engine.values.verdicts import Artifact
from engine.words import phrases
from engine.words.translation import say

RECENT_NOTES = 6  # notes of its team that a seat reads


class _Choice(AnswerPart):
    """A captain's choice of who speaks, and in which direction."""

    speaker: Annotated[str, OneOf("seats")]
    direction: str = ""


class _Message(AnswerPart):
    """A seat's note to its team; it may be empty."""

    message: str


class _Wish(NamedTuple):
    """A team's choice of its speaker: the captain's answer and the seats' notes."""

    answer: ShapedAnswer[_Choice]
    notes: Mapping[str, str]

    @property
    def speaker(self) -> str | None:
        """The captain's choice; None if the answer is unusable."""
        return self.answer.value.speaker if self.answer.valid and self.answer.value else None

    @property
    def direction(self) -> str:
        """The captain's direction to the speaker."""
        return self.answer.value.direction if self.answer.valid and self.answer.value else ""


class Bench:
    """Both teams at work; all they know is in the channels."""

    def __init__(
        self,
        stage: Stage,
        judge: Judge,
        limits: TeamLimits,
        manual: Manual,
        personalities: Mapping[str, Personality],
        *,
        notes: bool = False,
    ) -> None:
        self._stage = stage
        self._judge = judge
        self._limits = limits
        self._manual = manual
        self._rules: dict[str, Any] = {"violations": manual.violations, "times": limits.times()}
        self._personalities = personalities
        self._notes = notes
        self._channels = Channels()
        self._answered: Counter[str] = Counter()
        self._spoken: Counter[str] = Counter()
        self._heard: set[str] = set()
        self._phase = ""

    @property
    def _brief(self) -> bool:
        """Whether the debate is a short one: few messages, and few calls."""
        return self._stage.request.length is Length.SHORT

    async def begin(self, phase: str) -> None:
        """Head a stage."""
        self._phase = phase
        if not self._brief:  # there, each speech names its phase, and that is enough
            key = f"stage/{phase.replace(' ', '-')}"
            await self._stage.tell(key, say("Stage: {stage}", stage=phrases.round_name(phase)))

    def end(self, phase: str) -> None:
        """Have the judge summarise a stage, unless it is two brief speeches."""
        if not self._brief or phase not in ("opening", "closing"):
            self._judge.sum_up(phase)

    def start_clock(self) -> FreeClock:
        """Return the clock of the free debate, which is about to begin."""
        return free_clock(self._limits, self._heard)

    async def speak(
        self,
        seat: str,
        round_name: str,
        duty: str,
        words: int,
        *,
        role: str = "debater",
        cut_after: int | None = None,
        heard: str | None = None,
    ) -> Turn:
        """Let a seat speak within a word limit, from what it can read.

        `heard` is the public record where that must not hold what others say at the same time.
        """
        turn = await self._stage.say(
            seat,
            round_name,
            system=f"{NAME}/system",
            template=f"{NAME}/speech",
            limits=TurnLimits(words=words),
            role=role,
            words_a_minute=self._limits.words_a_minute,
            cut_after=cut_after,
            record=self._channels.record(seat) if heard is None else heard,
            directions=self._channels.read(seat, team_channel(seat[0])),
            notes=self._channels.read(seat, notes_channel(seat[0]), last=RECENT_NOTES),
            duty=duty,
            task=self._manual.tasks[duty],
            stage=self._phase,
            position=self._manual.positions[seat[1:]],
            personality=self._personalities[seat],
            **self._rules,
            counted="yes",
        )
        self._channels.write(PUBLIC, f"{seat}, {self._phase}", turn.text)
        if duty == "answer":
            self._answered[seat] += 1
        if duty == "free":
            self._spoken[seat] += 1
        self._heard.add(seat)
        self._judge.score(turn, self._phase, duty)
        return turn

    async def choose_answerer(self, side: str, round_name: str) -> str:
        """Return who answers: the captain's choice of seats 2 and 3, else who answered less."""
        seats = (f"{side}2", f"{side}3")
        wish = await self._ask(side, round_name, seats, seats, self._answered)
        chosen = wish.speaker or self._fewest(seats, self._answered)
        await self._settle(side, round_name, wish, chosen)
        return chosen

    async def speak_next(self, side: str, number: int, clock: FreeClock) -> None:
        """Let a team give its next speech of the free debate.

        The captain chooses; but a seat that has not spoken goes first when the time left would
        otherwise not reach it, and an invalid choice falls to the seat that has spoken least.
        """
        round_name = f"free-{number}"
        wish = await self._ask_free(side, round_name, clock)
        seat = clock.choose(wish.speaker or self._fewest(_seats_of(side), self._spoken))
        await self._settle(side, round_name, wish, seat)
        turn = await self._speak_freely(seat, round_name, clock.limits(seat))
        clock.spend(seat, turn.words)

    async def speak_together(self, number: int, clock: FreeClock) -> None:
        """Let both teams give their next speech at the same time; neither hears the other's."""
        rounds = {"A": f"free-{number}", "B": f"free-{number + 1}"}
        wishes = await self._stage.together(
            *(self._ask_free(side, round_name, clock) for side, round_name in rounds.items())
        )
        first, second = (
            wish.speaker or self._fewest(_seats_of(side), self._spoken)
            for side, wish in zip(rounds, wishes, strict=True)
        )
        pair = clock.choose_both(first, second)
        for (side, round_name), wish, seat in zip(rounds.items(), wishes, pair, strict=True):
            await self._settle(side, round_name, wish, seat)
        turns = await self._stage.all_at_once(
            *(
                self._speak_freely(seat, rounds[seat[0]], clock.limits(seat, *pair), together=True)
                for seat in pair
            )
        )
        for turn in turns:
            clock.spend(turn.seat, turn.words)

    def _speak_freely(
        self,
        seat: str,
        round_name: str,
        limits: tuple[int, int | None],
        *,
        together: bool = False,
    ) -> Coroutine[Any, Any, Turn]:
        # Read now: what is said at the same time must not be heard, also when it is resumed.
        heard = self._channels.record(seat) if together else None
        most, cut_after = limits
        return self.speak(seat, round_name, "free", most, cut_after=cut_after, heard=heard)

    async def report_unused(self, left: Mapping[str, int]) -> None:
        """Post each team's remaining time when the free debate ends."""
        if self._brief:
            return
        rate = self._limits.words_a_minute
        unused = say(", ").join(
            f"{marked(side)} {tell_clock(max(0, left[side]) / rate)}" for side in "AB"
        )
        silent = [marked(seat) for seat in SEATS if not self._spoken[seat]]
        told = [say("The free debate ends. Unused time: {unused}.", unused=unused)]
        if silent:
            told.append(say("{seats} did not speak.", seats=say(", ").join(silent)))
        await self._stage.tell("free-debate/unused", " ".join(told))

    # --- captains -----------------------------------------------------------------------

    def _fewest(self, seats: Sequence[str], counts: Mapping[str, int]) -> str:
        return min(seats, key=lambda seat: (counts[seat], seat))

    async def _ask_free(self, side: str, round_name: str, clock: FreeClock) -> _Wish:
        """Ask a team who speaks next in the free debate."""
        seats = _seats_of(side)
        left = clock.left[side]
        return await self._ask(
            side,
            round_name,
            seats,
            seats[1:],
            self._spoken,
            left=left,
            share=clock.share if clock.silent[side] else None,
        )

    async def _ask(
        self,
        side: str,
        round_name: str,
        seats: Sequence[str],
        writers: Sequence[str],
        counts: Mapping[str, int],
        *,
        left: int | None = None,
        share: int | None = None,
    ) -> _Wish:
        """Let seats write to their team, then ask its captain who speaks."""
        notes: dict[str, str] = {}
        if self._notes:  # short ones, written at the same time
            texts = (self._write(round_name, seat) for seat in writers)
            written = await self._stage.together(*texts)
            notes = {seat: note for seat, note in zip(writers, written, strict=True) if note}
            for seat, note in notes.items():
                self._channels.write(notes_channel(seat[0]), seat, note)
        captain = f"{side}1"
        answer = await self._stage.consult(
            f"captain/{round_name}/{side}",
            self._stage.request.model_of(captain),
            system=f"{NAME}/system",
            template=f"{NAME}/choice",
            shape=form(_Choice, seats=tuple(seats)),
            role="captain",
            side=side,
            team=self._channels.read(captain, team_channel(side)),
            notes=SpeechRecord(QuotedSpeech(f"[{seat}]", note) for seat, note in notes.items()),
            record=self._channels.record(captain),
            **self._rules,
            counts={seat: counts[seat] for seat in seats},
            silent=[seat for seat in seats if not counts[seat]],
            left=left,
            share=share,
            stage=self._phase,
            seats=seats,
        )
        return _Wish(answer, notes)

    async def _write(self, round_name: str, seat: str) -> str:
        """Return a seat's note, empty for none; it is kept whole, and read up to its limit."""
        most = round(self._limits.note_words)
        answer = await self._stage.consult(
            f"note/{round_name}/{seat}",
            self._stage.request.model_of(seat),
            system=f"{NAME}/system",
            template=f"{NAME}/note",
            shape=form(_Message, optional=True),
            role="captain",
            side=seat[0],
            seat=seat,
            record=self._channels.record(seat),
            directions=self._channels.read(seat, team_channel(seat[0])),
            notes=self._channels.read(seat, notes_channel(seat[0]), last=RECENT_NOTES),
            stage=self._phase,
            position=self._manual.positions[seat[1:]],
            **self._rules,
            words=str(most),
        )
        said = clean(answer.value.message).strip() if answer.valid and answer.value else ""
        body = {"side": seat[0], "seat": seat, "round": round_name, "note": said}
        if answer.value is None:
            body |= {"raw": answer.raw, "problem": answer.problem}
        name = f"note/{round_name}/{seat}"
        await self._stage.keep(artifacts=[Artifact.of(name, "note", body, valid=answer.valid)])
        return self._stage.first_words(said, most)

    async def _settle(self, side: str, round_name: str, wish: _Wish, chosen: str) -> None:
        """Announce the speaker to the team; keep the captain's choice and its outcome."""
        direction = wish.direction if chosen == wish.speaker else ""
        text = f"{chosen} speaks next. {direction}".rstrip()
        self._channels.write(team_channel(side), "captain", text)
        how = "captain" if chosen == wish.speaker else "precedence" if wish.speaker else "fallback"
        body = {
            "side": side,
            "round": round_name,
            "chosen": chosen,
            "how": how,
            "wanted": wish.speaker,
            "direction": wish.direction,
            "raw": "" if wish.speaker else wish.answer.raw,
            "problem": wish.answer.problem,
        }
        note = wish.notes.get(chosen, "")
        self._judge.note_choice(side, round_name, chosen, how, direction, note)
        artifact = Artifact.of(
            f"captain/{round_name}/{side}", "captain", body, valid=wish.speaker is not None
        )
        await self._stage.keep(artifacts=[artifact])


def _seats_of(side: str) -> tuple[str, ...]:
    return tuple(seat for seat in SEATS if seat[0] == side)
