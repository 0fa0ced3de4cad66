"""Run one debate: the format's script, then the blind panel, under one lease."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import structlog

from engine.blinding.identity import draw_names, names_of
from engine.blinding.transcript import BLINDER, TranscriptWriter, blind, hear_all
from engine.fleet.leases import LeaseManager, Notifier
from engine.formats import Format, format_of
from engine.jury.explain import STEP, ExplanationRequest, explain, explains, to_artifact, unwritten
from engine.jury.panel import hold_panel, open_transcript, summarise
from engine.prompts import Prompts
from engine.run.invitation import Rounds, ask_for_stance, invitation
from engine.stage import Stage
from engine.stage.steps import SENT_SECONDS, ConcurrentWork, Pace, Steps
from engine.store import Lease, Note, Post, Store
from engine.values.debate import Debate, Setup, Status, TrialProtocol, Turn, Value
from engine.values.errors import (
    BudgetError,
    LeaseLostError,
    ModelError,
    PausedError,
    RostrumError,
    StoppedError,
    StoreError,
)
from engine.values.language import N_, speaking
from engine.values.messages import Notice
from engine.values.ports import Audience, Call, Reply, utc_now
from engine.values.sources import named
from engine.values.verdicts import Rationale
from engine.words.phrases import NEEDS
from engine.words.translation import say

if TYPE_CHECKING:
    from engine.values.protocols import Models

# Warm-up for later turns and the jury, done while the first model call is in flight.


def warm_up(prompts: Prompts, hidden: frozenset[str]) -> None:
    """Compile name patterns, value models and templates; run this in a thread."""
    blind("Side A, the pro side, said", draw_names(("A", "B"), seed=0), hidden)
    build_values()
    prompts.compile()


def build_values() -> None:
    """Build the validators of every loaded value, so that nothing waits for them later."""
    waiting: list[type[Value]] = [Value]
    while waiting:
        value = waiting.pop()
        value.model_rebuild()
        waiting += value.__subclasses__()


FAREWELLS = {
    Status.PARTIAL: N_("The debate ends here, incomplete."),
    Status.CANCELLED: N_("The debate was stopped."),
}
FAILED = N_("The debate failed; everything up to here is kept.")
MOST_UNDELIVERED = 4
LOOK_SECONDS = 1.0
POSTED = ("turn", "shorten")  # the cues of calls whose answers are posted
WHY_SECONDS = 10.0  # that the close of a vote waits for the juror who writes for its reveal
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Runner:
    """Everything that running a debate needs; it never talks to a platform.

    `audience` watches turns while they are written; None for no audience. `leaves`: a debate that
    waits for a person is left, and someone submits it again.
    """

    store: Store
    models: Models
    lease_manager: LeaseManager
    notifier: Notifier
    audience: Audience | None = None
    leaves: bool = False
    _prompts: dict[str, Prompts] = field(default_factory=dict)
    _pace: Pace = field(default_factory=Pace)
    _unwritten: list[tuple[TranscriptWriter, Turn]] = field(default_factory=list)

    async def run_debate(self, debate_id: str) -> None:
        """Run a debate until its vote can open or it ends early.

        Journaled steps are not repeated. A debate that another process holds is skipped. Raises
        StoreError for a database that cannot be used now, which ends no debate.
        """
        try:
            async with self.lease_manager.hold(f"debate/{debate_id}") as lease:
                await self._run(debate_id, lease)
        except LeaseLostError as error:
            log.info("debate held by another process", debate=debate_id, why=str(error))
        except PausedError:
            log.info("debate paused", debate=debate_id)
        except RostrumError as error:
            if isinstance(error, StoreError) and error.passing:
                raise  # it goes on once the database can be used again
            await self._end(debate_id, error)
        except Exception:  # a bug in one debate must not end the others
            log.exception("unhandled error in a debate", debate=debate_id)
            await self._end(debate_id, None)
        finally:
            self.notifier.notify("series")

    def write_down(self, writer: TranscriptWriter, turn: Turn) -> None:
        """Write a turn down for jurors once the next call is out, with those of other debates.

        A trip to the thread costs more than a turn takes there.
        """
        if not self._unwritten:
            asyncio.get_running_loop().call_later(SENT_SECONDS, self._write_down_all)
        self._unwritten.append((writer, turn))

    def _write_down_all(self) -> None:
        turns, self._unwritten = self._unwritten, []
        BLINDER.submit(hear_all, turns)

    async def _run(self, debate_id: str, lease: Lease) -> None:
        debate, journaled = await asyncio.gather(
            self.store.debates.get(debate_id), self.store.journal.load(debate_id)
        )
        if not debate.status.live:
            await self._go_on_explaining(debate, lease)
            return
        log.info("debate started", debate=debate_id, format=debate.request.format)
        steps = Steps(
            debate, lease, journaled, self.store, self.models, self.lease_manager, self._pace
        )
        advance = self.store.debates.advance
        reason = "" if debate.reason.startswith(NEEDS) else debate.reason
        steps.later(partial(advance, lease, debate_id, Status.RUNNING, reason))
        writer = open_transcript(debate)
        watched = self.lease_manager.watch.debate(debate, resumed=bool(journaled.steps))
        try:
            script = format_of(debate.setup)
            asking = (journaled.unanswered, writer, Rounds(debate, script))
            host = _LiveHost(debate, lease, steps, self, *asking, asked=journaled.asked)
            if journaled.steps:
                host.undelivered = await self.store.outbox.undelivered_turns(debate_id)
            await self._announced(debate)
            with speaking(debate.request.language), watched:
                await self._ask_guest(debate, lease, steps, script)
                await self._hear_stances(debate, lease, steps)
                case, prompts = await self._think(debate, script, host)
            with speaking(debate.request.language):
                await self._explain(case, prompts, steps, lease)
        finally:
            await steps.flush()
        self.notifier.publish(f"outbox/{debate.platform}", debate_id)
        log.info("debate judged", debate=debate_id, usd=round(steps.spent, 6))

    async def _think(
        self, debate: Debate, script: Format, host: _LiveHost
    ) -> tuple[ExplanationRequest, Prompts]:
        """Run the script and the panel, then queue the verdict with the invitation to vote.

        The panel starts with the last turn, in parallel with the format's own judge. Return the
        case and the templates for the juror who explains it.
        """
        prompts = await self._load_prompts(debate.setup, host.steps)
        if debate.request.protocol is TrialProtocol.OPEN and not debate.setup.advocate:
            debate = await self._let_choose(debate, prompts, host)
        total = script.length(debate.request)
        stage = Stage(debate.setup, prompts, host, total, host.unanswered)
        async with ConcurrentWork() as beside:
            held = beside.start(script.hold(stage))
            held.add_done_callback(lambda _: stage.adjourn())
            await stage.adjourned()
            if held.done():
                held.result()
            host.writer.sources = named(stage.sources)
            at_hand = prompts, host.steps, host.writer
            # Debates of a version without a summary have no templates for it.
            asked = "jury/summary" in prompts.texts and not debate.request.protocol
            asked = asked and script.summarised
            spoken = tuple(stage.turns)
            # After the first ballots, so that the budget goes to those before the summary.
            begun = asyncio.Event()
            summary = beside.start(summarise(debate, spoken, *at_hand, begun)) if asked else None
            try:
                judged = script.judged(spoken)
                verdict, ballots = await hold_panel(debate, judged, *at_hand, begun)
            finally:
                begun.set()
        if summary is not None:
            verdict = verdict.model_copy(update={"summary": summary.result()})
        if explains(debate, verdict, prompts):
            self.lease_manager.check()  # the first try of that call is stored with the verdict
        record = self.store.journal.record_verdict
        invited = invitation(debate, spoken, judged) if debate.attended else ()
        closes_at = None if debate.attended else utc_now()
        seal = partial(record, host.lease, debate.id, verdict, ballots, invited, closes_at)
        host.steps.later(
            seal, partial(self.notifier.publish, f"outbox/{debate.platform}", debate.id)
        )
        return ExplanationRequest(debate, verdict, tuple(ballots.values())), prompts

    async def _let_choose(self, debate: Debate, prompts: Prompts, host: _LiveHost) -> Debate:
        """Let the first model choose its side, which is stored before anyone speaks."""
        from engine.run.trial import choose_side  # few answers are known

        setup = debate.setup
        chosen = await choose_side(Stage(setup, prompts, host, 0, host.unanswered), setup)
        await host.steps.flush()
        await self.store.debates.reseat(host.lease, debate.id, chosen)
        host.debate = debate.model_copy(update={"setup": chosen})
        host.writer = open_transcript(host.debate)
        return host.debate

    async def _explain(
        self, case: ExplanationRequest, prompts: Prompts, steps: Steps, lease: Lease
    ) -> None:
        """Ask a juror why the panel decided so, while people vote.

        The verdict is stored with the call, so that this goes on after a kill and is paid for once.
        """
        if not explains(case.debate, case.verdict, prompts):
            return
        why = await self._in_time(case, prompts, steps)
        if why is not None:
            note = Note(artifacts=(to_artifact(why),))
            steps.later(partial(self.store.journal.note, lease, case.debate.id, note))
            await steps.flush()
            if why.problem:
                log.info("reveal quotes a juror", debate=case.debate.id, why=why.problem)

    async def _in_time(
        self, case: ExplanationRequest, prompts: Prompts, steps: Steps
    ) -> Rationale | None:
        """Ask a juror for no longer than the vote lasts; a close of it waits `WHY_SECONDS` more."""
        longest = 60 * case.debate.request.vote_minutes
        try:
            async with asyncio.timeout(longest) as limit:
                closing = asyncio.create_task(self._hear_close(case.debate.id, limit, longest))
                try:
                    return await explain(case, prompts, steps)
                finally:
                    closing.cancel()
        except TimeoutError:
            return unwritten(case, "The vote closed first.")

    async def _hear_close(self, debate_id: str, limit: asyncio.Timeout, longest: float) -> None:
        await self.notifier.wait(f"closing/{debate_id}", longest)
        soon = asyncio.get_running_loop().time() + WHY_SECONDS
        if not limit.expired() and soon < (limit.when() or soon):
            limit.reschedule(soon)

    async def _go_on_explaining(self, debate: Debate, lease: Lease) -> None:
        """Go on with that after a kill, if people still vote."""
        kept = await self.store.journal.read(debate.id, "verdict", "ballots", artifacts=STEP)
        verdict, ballots, told = kept.verdict, kept.ballots, kept.artifacts
        if debate.status is not Status.VOTING or verdict is None or told:
            return
        journaled = await self.store.journal.load(debate.id)
        steps = Steps(
            debate, lease, journaled, self.store, self.models, self.lease_manager, self._pace
        )
        prompts = await self._load_prompts(debate.setup, steps)
        with speaking(debate.request.language):
            await self._explain(ExplanationRequest(debate, verdict, ballots), prompts, steps, lease)

    async def _end(self, debate_id: str, error: RostrumError | None) -> None:
        """Record an early end and announce it in the thread; None for a bug."""
        try:
            # The request to stop is still set and must not stop this too.
            async with self.lease_manager.hold(f"debate/{debate_id}", stoppable=False) as lease:
                await self._conclude(debate_id, lease, _status_after(error), error)
        except LeaseLostError as lost:
            log.info("debate held by another process", debate=debate_id, why=str(lost))

    async def _conclude(
        self, debate_id: str, lease: Lease, status: Status, error: RostrumError | None
    ) -> None:
        from engine.delivery import reasons  # few debates have a bad one

        error = error or RostrumError(reasons.STOPPED_BY_BUG)
        debate = await self.store.debates.get(debate_id)
        if not debate.status.live:
            return
        if isinstance(error, ModelError) and error.passing and debate.series is not None:
            # The process that holds its series tries again, as no one else would.
            reason = reasons.waiting_for(error)
            await self.store.debates.advance(lease, debate_id, Status.QUEUED, reason)
            return
        if not debate.gone:
            # The notice first: a reader that sees the end may wait for its messages and leave.
            number = (await self.store.journal.spending(debate_id))[0]
            with speaking(debate.request.language):
                text = f"{say(FAREWELLS.get(status, FAILED))} {say(reasons.said_of(error))}"
                notice = Notice(level="warning", text=text)
            await self._publish(debate, lease, Post(key=f"end/{number}", message=notice))
        cause, model = reasons.cause_of(error), error.model if isinstance(error, ModelError) else ""
        await self.store.debates.advance(
            lease, debate_id, status, reasons.reason_of(error), cause=cause, model=model or None
        )
        log.warning("debate ended early", debate=debate_id, status=status, why=str(error))
        self.lease_manager.watch.ended(status, cause)
        self.notifier.notify(f"ended/{debate_id}")
        if debate.mirror is not None:  # its vote may be waiting for this debate's
            self.notifier.publish(f"votes/{debate.platform}")

    async def _announced(self, debate: Debate) -> None:
        """Wait until the debate has a thread, so that no money is spent on unpostable turns."""
        if debate.thread is not None or not debate.attended:
            return
        while await self.store.debates.thread_of(debate.id) is None:
            self.lease_manager.check()
            await self.notifier.wait(f"delivered/{debate.id}", LOOK_SECONDS)

    async def _ask_guest(self, debate: Debate, lease: Lease, steps: Steps, script: Format) -> None:
        """Wait until the person who is to argue a side agrees, before anything is paid for."""
        if not debate.request.guest:
            return
        from engine.run.guest import GuestTime  # few debates have any

        await steps.flush()
        services = self.store, self.lease_manager, self.notifier, self.leaves
        turns = script.turns(debate.request) // len(debate.request.sides)
        await GuestTime(debate, lease, *services).agree(turns)

    async def _hear_stances(self, debate: Debate, lease: Lease, steps: Steps) -> None:
        """Ask for stances before the first turn and wait until the question closes."""
        if not debate.request.stance or debate.stance_closed_at or not debate.attended:
            return
        await steps.flush()
        await self._publish(debate, lease, ask_for_stance(debate, after=False))
        while (await self.store.debates.get(debate.id)).stance_closed_at is None:
            self.lease_manager.check()
            await self.notifier.wait(f"closed/{debate.id}", LOOK_SECONDS)

    async def _publish(self, debate: Debate, lease: Lease, *posts: Post) -> None:
        await self.store.outbox.publish(lease, debate.id, posts)
        self.notifier.publish(f"outbox/{debate.platform}", debate.id)

    async def _load_prompts(self, setup: Setup, steps: Steps) -> Prompts:
        """Return a debate's templates; the first use also starts the warm-up."""
        digest = setup.templates
        if digest not in self._prompts:
            prompts = Prompts(await self.store.debates.templates(digest))
            self._prompts[digest] = prompts
            steps.when_sent = partial(BLINDER.submit, warm_up, prompts, names_of(setup))
        return self._prompts[digest]


@dataclass(slots=True)
class _LiveHost:
    """The host of a running debate: journaled calls, and posts through the outbox."""

    debate: Debate
    lease: Lease
    steps: Steps
    runner: Runner
    unanswered: Mapping[str, str]
    writer: TranscriptWriter
    rounds: Rounds
    asked: tuple[str, ...] | None = None  # by the audience, once its time for that is over
    undelivered: int = 0
    recording: int = 0

    async def room(self) -> None:
        """Wait until fewer than four turns are undelivered."""
        if not self.debate.attended:
            return
        if self.undelivered + self.recording >= MOST_UNDELIVERED:
            # Most turns stored since the last count are delivered by now.
            await self._count()
        if self.undelivered + self.recording >= MOST_UNDELIVERED:
            await self.steps.flush()
            await self._count()
        while self.undelivered >= MOST_UNDELIVERED:
            await self.runner.notifier.wait(f"delivered/{self.debate.id}", 1.0)
            self.runner.lease_manager.check()
            await self._count()

    async def _count(self) -> None:
        outbox = self.runner.store.outbox
        self.undelivered = await outbox.undelivered_turns(self.debate.id)

    async def call(self, call: Call) -> Reply:
        """Return a step's reply; the audience watches a turn being written.

        With the first of a round people are asked about the round before.
        """
        if (question := self.rounds.before(call.step)) is not None:
            await self.keep(Note(posts=(question,)))
        # A draft would show what its readers are not to have yet.
        audience = None if self.debate.request.pace else self.runner.audience
        if audience is None or call.hint.get("kind") not in POSTED:
            return await self.steps.call(call)
        from engine.stage.repair import Drafting  # not all platforms show them

        drafting, spoken = Drafting(audience, self.debate, call), False
        try:
            reply = await self.steps.call(replace(call, on_text=drafting.hear))
            spoken = True
            return reply
        finally:
            drafting.end(spoken=spoken)

    async def publish(self, turn: Turn, compose: Callable[[], Post]) -> None:
        """Keep a turn and queue its post, together; jurors' text of it is made beside a call."""
        self.recording += 1
        self.rounds.spoken(turn)
        self.runner.write_down(self.writer, turn)
        record = self.runner.store.journal.record_turn
        self.steps.later(
            partial(record, self.lease, self.debate.id, turn, compose()), self._recorded
        )

    async def hear_person(self, step: str, words: int) -> tuple[str, str]:
        """Let a person give a turn; what they gave before a kill stays as it was."""
        from engine.run.guest import GuestTime  # few debates have any

        if (question := self.rounds.before(step)) is not None:
            await self.keep(Note(posts=(question,)))
        await self.steps.flush()
        runner = self.runner
        services = runner.store, runner.lease_manager, runner.notifier, runner.leaves
        return await GuestTime(self.debate, self.lease, *services).hear(step, words)

    async def hear_questions(self) -> tuple[str, ...]:
        """Let the audience ask; what it put to the sides before a kill stays as it was."""
        if self.asked is None:
            from engine.run.questions import QuestionTime  # few debates have one

            await self.steps.flush()
            runner = self.runner
            parts = runner.store, runner.lease_manager, runner.notifier
            self.asked = await QuestionTime(self.debate, self.lease, *parts).hold()
        return self.asked

    async def keep(self, note: Note) -> None:
        """Store a format's findings."""
        self.steps.later(partial(self._note, note))

    async def _note(self, note: Note) -> None:
        await self.runner.store.journal.note(self.lease, self.debate.id, note)
        if note.posts:
            self.runner.notifier.publish(f"outbox/{self.debate.platform}", self.debate.id)

    def _recorded(self) -> None:
        self.recording -= 1
        self.undelivered += 1  # until it is counted again, with what was delivered since
        self.runner.notifier.publish(f"outbox/{self.debate.platform}", self.debate.id)


def _status_after(error: RostrumError | None) -> Status:
    match error:
        case BudgetError() | StoppedError(ends="deserted"):
            return Status.PARTIAL
        case StoppedError(ends="" | "declined"):
            return Status.CANCELLED
        case _:
            return Status.FAILED
