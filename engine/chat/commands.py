"""The commands of a chat: who may do what, where, and what a channel may know.

Every platform calls these, one method a command, and shows what they answer. They raise
RostrumError, whose text is for the person who asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from weakref import WeakValueDictionary

from engine.answers.answers import (
    AgreementAnswer,
    Answer,
    DebateLine,
    DebatesAnswer,
    FileAnswer,
    ForgottenAnswer,
    FormatLine,
    FormatsAnswer,
    HelpAnswer,
    LeaderboardAnswer,
    ModelsAnswer,
    NoFileAnswer,
    OptedAnswer,
    PrivacyAnswer,
    ResultAnswer,
    ReviewAnswer,
    RevisedAnswer,
    SettingsAnswer,
    StartedAnswer,
    StatusAnswer,
    StoppedAnswer,
    TopicsAnswer,
)
from engine.answers.invocation import (
    USAGES,
    AgreementCommand,
    CancelCommand,
    CloseCommand,
    Command,
    ExportCommand,
    ForgetCommand,
    FormatsCommand,
    HelpCommand,
    LeaderboardCommand,
    ListCommand,
    ModelsCommand,
    OptInCommand,
    OptOutCommand,
    PrivacyCommand,
    ResultCommand,
    ReviewCommand,
    SettingsCommand,
    StartCommand,
    StatusCommand,
    TopicsCommand,
)
from engine.chat.choices import Choice, debate_choices, model_choices
from engine.chat.command_line import nearest
from engine.chat.lookup import find_held, find_named, find_newest, find_only
from engine.chat.person import Person, manages, require_manager, settings_of
from engine.chat.privacy import forget
from engine.chat.review import find_offers, line_of, revise
from engine.chat.settings import change_settings, check_channel, order_of, overlay, setting_lines
from engine.dataset.bundle import ROOT, export_zip
from engine.debate import Debate, Status
from engine.delivery.ending import where_revealed, why
from engine.errors import NotAllowedError, UsageError
from engine.formats import FORMATS, length_of
from engine.judging import Question
from engine.line.intake import Defaults, Order
from engine.line.service import Service
from engine.messages import Reveal
from engine.stats.agreement import measure_agreement
from engine.stats.ratings import rank_models
from engine.stats.reading import work_out
from engine.stats.row import Row
from engine.store import ExportFilter, Store, Traces, count_rehearsals
from engine.store.pairs import closes_with, tied
from engine.text import clean, headline
from engine.topics import built_in_topics
from engine.votes.window import NO_VERDICT, reveal_of, stances_of, tally_of

T = TypeVar("T")

LISTED = 20
REVIEWED = 200  # of the newest, which are read whole
LIVE = (Status.QUEUED, Status.RUNNING)
BY_STARTER = "Whoever started it stopped it."
BY_MANAGER = "A manager stopped it."


@dataclass(slots=True)
class Commands:
    """What a chat may ask for; `defaults` are the operator's."""

    service: Service
    store: Store
    defaults: Defaults
    version: str
    export_key: bytes | None = None
    # One at a time: each is a thread full of Python, and debates need theirs.
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _starts: WeakValueDictionary[object, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def run(self, person: Person, command: Command, max_bytes: int) -> Answer:  # noqa: C901 - one case a command
        """Carry out a command; a file may have `max_bytes`."""
        match command:
            case StartCommand():
                return await self.start(person, command)
            case CancelCommand():
                return await self.cancel(person, command.debate)
            case CloseCommand():
                return await self.close(person, command.debate)
            case StatusCommand():
                return await self.status(person, command.debate)
            case ResultCommand():
                return await self.result(person, command.debate)
            case ListCommand():
                return await self.list(person)
            case ModelsCommand():
                return await self.models(person)
            case TopicsCommand():
                return self.topics()
            case FormatsCommand():
                return self.formats()
            case SettingsCommand():
                return await self.settings(person, command.changes)
            case ExportCommand():
                return await self.export(person, max_bytes)
            case AgreementCommand():
                return await self.agreement(person)
            case LeaderboardCommand():
                return await self.leaderboard(person)
            case ReviewCommand():
                return await self.review(person, command.debate, command.vote)
            case PrivacyCommand():
                return await self.privacy(person)
            case ForgetCommand():
                return await self.forget(person, confirmed=command.confirm)
            case OptOutCommand():
                return await self.opt_out(person)
            case OptInCommand():
                return await self.opt_in(person)
            case HelpCommand():
                return self.help(command.command, hides=not person.ground.no_removal)

    # --- debates -------------------------------------------------------------------------

    async def start(self, person: Person, command: StartCommand) -> StartedAnswer:
        """Queue a debate, and say what it will take.

        Raises NotAllowedError for a channel that is not allowed, UsageError and BudgetError.
        """
        settings = await settings_of(self.store, person)
        check_channel(settings, person.channel or person.place)
        defaults = overlay(self.defaults, settings)
        order = order_of(person, command, defaults)
        # Of two starts in one thread the second has to see the first; no other start waits.
        async with self._starts.setdefault(person.thread or object(), asyncio.Lock()):
            await self._check_thread(person, order)
            started = await self.service.start(order, defaults)
        return StartedAnswer(
            debate=DebateLine.of(started.debate),
            mirror=started.mirror and DebateLine.of(started.mirror),
            estimate=started.estimate,
            warnings=started.warnings,
            models={side: model.ref for side, model in order.models.items()},
            jurors=tuple(juror.ref for juror in order.jurors),
        )

    async def _check_thread(self, person: Person, order: Order) -> None:
        """Refuse debates that would stand between one another's turns in one thread."""
        if person.thread is None:
            return
        if order.mirror:
            raise UsageError(
                "A mirrored debate is two, and each needs a thread of its own; start it in a "
                "channel, or leave out mirror."
            )
        votes, platform = self.store.votes, person.platform
        going = await votes.held_in(platform, thread=person.thread)
        going += await votes.held_in(platform, channel=person.thread)
        if going:
            raise UsageError(
                "A debate is going on in this thread; start another one when it is over, or in "
                "another thread or channel."
            )

    async def cancel(self, person: Person, debate: str | None = None) -> StoppedAnswer:
        """Stop a debate: its starter may, and managers."""
        found = await find_only(self.store, person, debate, LIVE)
        starter = await self.store.debates.is_starter(found.id, person.user)
        if not starter and not await manages(self.store, person):
            raise NotAllowedError(
                f"Only whoever started debate {found.code}, or a manager, can stop it; ask them."
            )
        stopped = await self.service.cancel(found.id, BY_STARTER if starter else BY_MANAGER)
        return StoppedAnswer(what="debate", debate=DebateLine.of(stopped))

    async def close(self, person: Person, debate: str | None = None) -> StoppedAnswer:
        """Close a vote before its time, and an open one on its mirror: managers may."""
        await require_manager(self.store, person, "close a vote early")
        found = await find_only(self.store, person, debate, (Status.VOTING,))
        mirror = await self.store.debates.mirror_of(found)
        both = mirror is not None and closes_with(found, mirror)
        closed = await self.service.close_vote(found.id)
        line = DebateLine.of(mirror) if mirror is not None and both else None
        return StoppedAnswer(what="vote", debate=DebateLine.of(closed), mirror=line)

    async def status(self, person: Person, debate: str | None = None) -> StatusAnswer:
        """Say how far a debate is, and nothing that is sealed."""
        found = await find_newest(self.store, person, debate)
        mirror = await self.store.debates.mirror_of(found)
        now = self.service.clock.now()
        going = found.status.live or found.status is Status.VOTING
        return StatusAnswer(
            debate=DebateLine.of(found),
            turns=await self.store.journal.turns_held(found.id),
            turns_total=length_of(found.setup),
            why="" if going else why(found),
            revealed=await where_revealed(self.store.outbox, found),
            minutes_left=self._minutes_left(found),
            mirror=DebateLine.of(mirror) if mirror and tied(found, mirror, now) else None,
            gaps=found.gaps,
            waits=why(found) if going else "",
            unread=Question.VOTE in await self._unread(found),
        )

    async def result(self, person: Person, debate: str | None = None) -> ResultAnswer:
        """Say how a debate ended, once it is revealed."""
        found = await find_newest(self.store, person, debate)
        reveal = None if found.revealed_at is None else await self._reveal(found)
        return ResultAnswer(
            debate=DebateLine.of(found),
            reveal=reveal,
            minutes_left=self._minutes_left(found),
        )

    async def list(self, person: Person) -> DebatesAnswer:
        """List the community's newest debates."""
        held = await find_held(self.store, person, limit=LISTED)
        return DebatesAnswer(debates=tuple(DebateLine.of(debate) for debate in held))

    # --- what can be chosen --------------------------------------------------------------

    async def models(self, person: Person) -> ModelsAnswer:
        """List the models that may debate and judge here."""
        defaults = await self._offered(person)
        return ModelsAnswer(
            models=tuple(model.ref for model in defaults.models),
            jurors=tuple(juror.ref for juror in defaults.jurors),
        )

    def topics(self) -> TopicsAnswer:
        """List the built-in topics."""
        return TopicsAnswer(topics=built_in_topics())

    def formats(self) -> FormatsAnswer:
        """List the formats."""
        lines = [
            FormatLine(
                name=name, contenders=script.contenders, options=tuple(script.options.model_fields)
            )
            for name, script in FORMATS.items()
        ]
        return FormatsAnswer(formats=tuple(lines))

    async def match_models(self, person: Person, prefix: str) -> tuple[Choice, ...]:
        """Match the models that may debate here."""
        defaults = await self._offered(person)
        return model_choices(prefix, defaults.debaters)

    async def match_jurors(self, person: Person, prefix: str) -> tuple[Choice, ...]:
        """Match the models that may judge here."""
        defaults = await self._offered(person)
        return model_choices(prefix, defaults.judges)

    async def match_debates(self, person: Person, prefix: str) -> tuple[Choice, ...]:
        """Match the community's debates."""
        return debate_choices(prefix, await find_held(self.store, person))

    async def _offered(self, person: Person) -> Defaults:
        return overlay(self.defaults, await settings_of(self.store, person))

    # --- the community -------------------------------------------------------------------

    async def settings(
        self, person: Person, changes: Mapping[str, str] | None = None
    ) -> SettingsAnswer:
        """Show the community's settings, after changing some: managers may."""
        await require_manager(self.store, person, "see or change the settings")
        if changes:
            settings = await self.store.communities.change(
                person.platform,
                person.community,
                lambda old: change_settings(old, changes, self.defaults),
                self.service.clock.now(),
            )
        else:
            settings = await settings_of(self.store, person)
        lines = setting_lines(settings, self.defaults)
        return SettingsAnswer(settings=lines, changed=tuple(changes or ()))

    async def export(self, person: Person, max_bytes: int) -> FileAnswer | NoFileAnswer:
        """Zip the data of the debates revealed here: managers may."""
        await require_manager(self.store, person, "export what was held here")
        async with self._reading:
            bundle = await export_zip(
                self.store,
                _revealed_here(person),
                self.export_key,
                version=self.version,
                max_bytes=max_bytes,
            )
        if bundle.content is None or not bundle.debates:
            size = bundle.size if bundle.debates else 0
            return NoFileAnswer(
                community=person.community,
                bytes=size,
                bytes_max=max_bytes,
                rehearsals=await self._rehearsals(person),
            )
        return FileAnswer(
            name=f"{ROOT}.zip",
            content=bundle.content,
            debates=bundle.debates,
            rehearsals=await self._rehearsals(person),
        )

    async def agreement(self, person: Person) -> AgreementAnswer:
        """Say how far jury and people agree in the debates revealed here."""
        agreement = await self._work_out(person, measure_agreement)
        return AgreementAnswer(agreement=agreement, rehearsals=await self._rehearsals(person))

    async def leaderboard(self, person: Person) -> LeaderboardAnswer:
        """Rate the models of the debates revealed here."""
        leaderboard = await self._work_out(person, rank_models)
        return LeaderboardAnswer(leaderboard=leaderboard, rehearsals=await self._rehearsals(person))

    async def review(
        self, person: Person, code: str | None = None, vote: str | None = None
    ) -> ReviewAnswer | RevisedAnswer:
        """Offer revealed debates to be answered once more, or take such an answer: all may."""
        now = self.service.clock.now()
        if code is None:
            revealed = await find_held(self.store, person, (Status.CLOSED,), REVIEWED)
            platform, user = person.platform, person.user
            async with self._reading:
                lines = await find_offers(self.store, platform, user, revealed, now)
            return ReviewAnswer(lines=lines)
        debate = await find_named(self.store, person, code)
        if debate.revealed_at is None:
            raise UsageError(f"Debate {debate.code} is not revealed; vote on it in its thread.")
        if vote is None:
            return ReviewAnswer(lines=(line_of(debate),))
        return await revise(self.store, debate, person.user, vote, now)

    async def joined(self, platform: str, community: str) -> None:
        """Note that a community has Rostrum."""
        await self.store.communities.joined(platform, community, self.service.clock.now())

    async def left(self, platform: str, community: str) -> None:
        """Note that a community removed Rostrum; its settings are deleted."""
        await self.store.communities.left(platform, community, self.service.clock.now())

    async def communities(self, platform: str) -> frozenset[str]:
        """Return a platform's communities that have Rostrum, as far as is known."""
        return await self.store.communities.known(platform)

    # --- the person who asks -------------------------------------------------------------

    async def privacy(self, person: Person) -> PrivacyAnswer:
        """Say what is stored, and how much of it is the person's."""
        return PrivacyAnswer(traces=await self._traces(person))

    async def forget(self, person: Person, *, confirmed: bool) -> ForgottenAnswer:
        """Forget the person once that is confirmed; before, say what it would mean."""
        traces = await self._traces(person)
        if not confirmed:
            return ForgottenAnswer(done=False, traces=traces)
        wiped = await forget(self.store, self.service.clock, person.platform, person.user)
        return ForgottenAnswer(done=True, traces=traces, rest=not wiped)

    async def opt_out(self, person: Person) -> OptedAnswer:
        """Leave the person out of exports; what they chose still counts."""
        await self.store.people.opt_out(person.platform, person.user)
        return OptedAnswer(out=True, forgotten=(await self._traces(person)).forgotten)

    async def opt_in(self, person: Person) -> OptedAnswer:
        """Have the person in exports again, or back after they were forgotten."""
        before = await self._traces(person)
        now = self.service.clock.now()
        await self.store.people.opt_in(person.platform, person.user, now)
        return OptedAnswer(out=False, back=before.forgotten)

    async def _traces(self, person: Person) -> Traces:
        return await self.store.people.traces(person.platform, person.user)

    # --- about Rostrum -------------------------------------------------------------------

    def help(self, command: str | None = None, *, hides: bool = True) -> HelpAnswer:
        """Say how commands are written. Raises UsageError for one that does not exist."""
        name = command and command.strip().casefold().rsplit("/", 1)[-1]
        if name and name not in USAGES:
            close = nearest(name, USAGES)
            hint = f"did you mean {close}?" if close else f"there are {', '.join(USAGES)}."
            raise UsageError(f"There is no command “{headline(clean(name), 40)}”; {hint}")
        return HelpAnswer(command=name or None, hides=hides)

    # --- what is known of a debate ---------------------------------------------------------

    def _minutes_left(self, debate: Debate) -> float | None:
        if debate.status is not Status.VOTING or debate.vote_deadline is None:
            return None
        left = debate.vote_deadline - self.service.clock.now()
        return max(0.0, left.total_seconds() / 60)

    async def _work_out(self, person: Person, make: Callable[[Sequence[Row]], T]) -> T:
        async with self._reading:
            return await work_out(self.store.archive, _revealed_here(person), make)

    async def _rehearsals(self, person: Person) -> int:
        """Return how many debates revealed here are left out for their rehearsal models."""
        return await asyncio.to_thread(count_rehearsals, self.store.archive, _revealed_here(person))

    async def _reveal(self, debate: Debate) -> Reveal:
        verdict, ballots = await self.store.journal.judged(debate.id)
        calls, usd = await self.store.journal.spending(debate.id)
        events = await self.store.votes.events(debate.id)
        unread = await self._unread(debate)
        tally, stances = tally_of(debate, events, unread), stances_of(debate, events, unread)
        verdict = verdict or NO_VERDICT
        return reveal_of(debate, tally, verdict, ballots, calls, usd, stances, unread)

    async def _unread(self, debate: Debate) -> frozenset[Question]:
        """Return what closed without a reading of its reactions."""
        targets = await self.store.votes.targets(debate.id)
        return frozenset(target.question for target in targets if target.unread)


def _revealed_here(person: Person) -> ExportFilter:
    return ExportFilter(
        platform=person.platform,
        community=person.community,
        revealed=True,
        without_rehearsal=True,
    )
