"""The commands of a chat: who may do what, where, and what a channel may know.

Every platform calls these, one method a command, and shows what they answer. They raise
RostrumError, whose text is for the person who asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import JsonValue

from engine.answers import (
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
from engine.choices import Choice, debate_choices, language_choices, model_choices
from engine.command_text import JUDGES, nearest
from engine.community import CommunitySettings
from engine.dataset.bundle import ROOT, export_zip
from engine.debate import Debate, Model, Status, Value
from engine.errors import NotAllowedError, NotFoundError, UsageError
from engine.formats import FORMATS, find_format
from engine.house_rules import (
    change_settings,
    check_channel,
    choose_model,
    overlay,
    setting_lines,
)
from engine.intake import Defaults, Order
from engine.invocation import (
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
from engine.messages import Reveal
from engine.privacy import forget
from engine.review import find_offers, line_of, revise
from engine.service import Service
from engine.stats.agreement import measure_agreement
from engine.stats.ratings import rank_models
from engine.stats.reading import work_out
from engine.stats.row import Row
from engine.store import ExportFilter, Store, Traces
from engine.text import clean, headline
from engine.topics import built_in_topics
from engine.votes.window import NO_VERDICT, reveal_of, stances_of, tally_of

T = TypeVar("T")

LISTED = 20
LOOKED_THROUGH = 100  # debates, for the one that is meant
REVIEWED = 200  # of the newest, which are read whole
LIVE = (Status.QUEUED, Status.RUNNING)
BY_STARTER = "Whoever started it stopped it."
BY_MANAGER = "A manager stopped it."


class Person(Value):
    """Who asks, and where: ids are the platform's own.

    `place` is the channel, `thread` the thread of it that was asked in, if any; `channel` is what
    settings call the place, if that is another name. A manager is whom the platform says so
    (`manager`), or who holds the community's manager role.
    """

    platform: str
    community: str
    place: str
    user: str
    thread: str | None = None
    channel: str | None = None
    manager: bool = False
    roles: frozenset[str] = frozenset()
    locale: str = "en"


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
                return self.help(command.command)

    # --- debates -------------------------------------------------------------------------

    async def start(self, person: Person, command: StartCommand) -> StartedAnswer:
        """Queue a debate, and say what it will take.

        Raises NotAllowedError for a channel that is not allowed, UsageError and BudgetError.
        """
        settings = await self._settings_of(person)
        check_channel(settings, person.channel or person.place)
        defaults = overlay(self.defaults, settings)
        order = _order(person, command, defaults)
        started = await self.service.start(order, defaults)
        return StartedAnswer(
            debate=DebateLine.of(started.debate),
            mirror=started.mirror and DebateLine.of(started.mirror),
            estimate=started.estimate,
            warnings=started.warnings,
            models={side: model.ref for side, model in order.models.items()},
            jurors=tuple(juror.ref for juror in order.jurors),
        )

    async def cancel(self, person: Person, debate: str | None = None) -> StoppedAnswer:
        """Stop a debate: its starter may, and managers."""
        found = await self._one_of(person, debate, LIVE)
        starter = await self.store.debates.is_starter(found.id, person.user)
        if not starter and not await self._manages(person):
            raise NotAllowedError(
                f"Only whoever started debate {found.code}, or a manager, can stop it; ask them."
            )
        stopped = await self.service.cancel(found.id, BY_STARTER if starter else BY_MANAGER)
        return StoppedAnswer(what="debate", debate=DebateLine.of(stopped))

    async def close(self, person: Person, debate: str | None = None) -> StoppedAnswer:
        """Close a vote before its time: managers may."""
        await self._require_manager(person, "close a vote early")
        found = await self._one_of(person, debate, (Status.VOTING,))
        closed = await self.service.close_vote(found.id)
        return StoppedAnswer(what="vote", debate=DebateLine.of(closed))

    async def status(self, person: Person, debate: str | None = None) -> StatusAnswer:
        """Say how far a debate is, and nothing that is sealed."""
        found = await self._newest(person, debate)
        script = find_format(found.request.format)
        return StatusAnswer(
            debate=DebateLine.of(found),
            turns=await self.store.journal.turns_held(found.id),
            turns_total=script.length(found.request),
            minutes_left=self._minutes_left(found),
        )

    async def result(self, person: Person, debate: str | None = None) -> ResultAnswer:
        """Say how a debate ended, once it is revealed."""
        found = await self._newest(person, debate)
        reveal = None if found.revealed_at is None else await self._reveal(found)
        return ResultAnswer(
            debate=DebateLine.of(found),
            reveal=reveal,
            minutes_left=self._minutes_left(found),
            private=reveal is None,
        )

    async def list(self, person: Person) -> DebatesAnswer:
        """List the community's newest debates."""
        held = await self._held(person, limit=LISTED)
        return DebatesAnswer(debates=tuple(DebateLine.of(debate) for debate in held))

    # --- what can be chosen --------------------------------------------------------------

    async def models(self, person: Person) -> ModelsAnswer:
        """List the models that may debate and judge here."""
        defaults = overlay(self.defaults, await self._settings_of(person))
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
        defaults = overlay(self.defaults, await self._settings_of(person))
        return model_choices(prefix, _debaters(defaults))

    async def match_jurors(self, person: Person, prefix: str) -> tuple[Choice, ...]:
        """Match the models that may judge here."""
        defaults = overlay(self.defaults, await self._settings_of(person))
        return model_choices(prefix, _jurors(defaults))

    def match_languages(self, person: Person, prefix: str) -> tuple[Choice, ...]:
        """Match languages, the person's own first."""
        return language_choices(prefix, person.locale)

    async def match_debates(self, person: Person, prefix: str) -> tuple[Choice, ...]:
        """Match the community's debates."""
        return debate_choices(prefix, await self._held(person))

    # --- the community -------------------------------------------------------------------

    async def settings(
        self, person: Person, changes: Mapping[str, str] | None = None
    ) -> SettingsAnswer:
        """Show the community's settings, after changing some: managers may."""
        await self._require_manager(person, "see or change the settings")
        if changes:
            settings = await self.store.communities.change(
                person.platform,
                person.community,
                lambda old: change_settings(old, changes, self.defaults),
                self.service.clock.now(),
            )
        else:
            settings = await self._settings_of(person)
        lines = setting_lines(settings, self.defaults)
        return SettingsAnswer(settings=lines, changed=tuple(changes or ()))

    async def export(self, person: Person, max_bytes: int) -> FileAnswer | NoFileAnswer:
        """Zip the data of the debates revealed here: managers may."""
        await self._require_manager(person, "export what was held here")
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
            return NoFileAnswer(community=person.community, bytes=size, bytes_max=max_bytes)
        return FileAnswer(name=f"{ROOT}.zip", content=bundle.content, debates=bundle.debates)

    async def agreement(self, person: Person) -> AgreementAnswer:
        """Say how far jury and people agree in the debates revealed here."""
        return AgreementAnswer(agreement=await self._work_out(person, measure_agreement))

    async def leaderboard(self, person: Person) -> LeaderboardAnswer:
        """Rate the models of the debates revealed here."""
        return LeaderboardAnswer(leaderboard=await self._work_out(person, rank_models))

    async def review(
        self, person: Person, code: str | None = None, vote: str | None = None
    ) -> ReviewAnswer | RevisedAnswer:
        """Offer revealed debates to be answered once more, or take such an answer: all may."""
        now = self.service.clock.now()
        if code is None:
            revealed = await self._held(person, (Status.CLOSED,), REVIEWED)
            platform, user = person.platform, person.user
            async with self._reading:
                lines = await find_offers(self.store, platform, user, revealed, now)
            return ReviewAnswer(lines=lines)
        debate = await self._named(person, code)
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

    def help(self, command: str | None = None) -> HelpAnswer:
        """Say how commands are written. Raises UsageError for one that does not exist."""
        name = command and command.strip().casefold().rsplit("/", 1)[-1]
        if name and name not in USAGES:
            close = nearest(name, USAGES)
            hint = f"did you mean {close}?" if close else f"there are {', '.join(USAGES)}."
            raise UsageError(f"There is no command “{headline(clean(name), 40)}”; {hint}")
        return HelpAnswer(command=name or None)

    # --- who and which -------------------------------------------------------------------

    async def _settings_of(self, person: Person) -> CommunitySettings:
        return await self.store.communities.get(person.platform, person.community)

    async def _manages(self, person: Person) -> bool:
        return person.manager or (await self._settings_of(person)).manager_role in person.roles

    async def _require_manager(self, person: Person, what: str) -> None:
        if not await self._manages(person):
            raise NotAllowedError(f"Only a manager of this community can {what}; ask one.")

    async def _held(
        self, person: Person, statuses: Sequence[Status] = (), limit: int = LOOKED_THROUGH
    ) -> Sequence[Debate]:
        return await self.store.debates.of_community(
            person.platform, person.community, statuses, limit
        )

    async def _named(self, person: Person, code: str) -> Debate:
        """Return a debate of this community; another's is as unknown as one never held."""
        unknown = NotFoundError(
            f"There is no debate “{headline(clean(code), 30)}” here; list shows those there are."
        )
        try:
            found = await self.store.debates.get(code)
        except NotFoundError:
            raise unknown from None
        if (found.platform, found.community) != (person.platform, person.community):
            raise unknown
        return found

    async def _newest(self, person: Person, code: str | None) -> Debate:
        if code:
            return await self._named(person, code)
        here = _held_here(person, await self._held(person))
        if not here:
            raise NotFoundError("No debate was held in this channel yet; name one by its code.")
        return here[0]

    async def _one_of(self, person: Person, code: str | None, statuses: Sequence[Status]) -> Debate:
        """Return the debate that is named, or the only one here in such a state."""
        if code:
            return await self._named(person, code)
        here = _held_here(person, await self._held(person, statuses))
        if not here:
            wanted = " or ".join(statuses)
            raise NotFoundError(f"No debate is {wanted} in this channel; name one by its code.")
        if len(here) > 1:
            codes = ", ".join(debate.code for debate in here)
            raise UsageError(f"Several debates could be meant here; name one of {codes}.")
        return here[0]

    # --- what is known of a debate ---------------------------------------------------------

    def _minutes_left(self, debate: Debate) -> float | None:
        if debate.status is not Status.VOTING or debate.vote_deadline is None:
            return None
        left = debate.vote_deadline - self.service.clock.now()
        return max(0.0, left.total_seconds() / 60)

    async def _work_out(self, person: Person, make: Callable[[Sequence[Row]], T]) -> T:
        async with self._reading:
            return await work_out(self.store.archive, _revealed_here(person), make)

    async def _reveal(self, debate: Debate) -> Reveal:
        verdict, ballots = await self.store.journal.judged(debate.id)
        calls, usd = await self.store.journal.spending(debate.id)
        events = await self.store.votes.events(debate.id)
        tally, stances = tally_of(debate, events), stances_of(debate, events)
        return reveal_of(debate, tally, verdict or NO_VERDICT, ballots, calls, usd, stances)


def _revealed_here(person: Person) -> ExportFilter:
    return ExportFilter(platform=person.platform, community=person.community, revealed=True)


def _order(person: Person, command: StartCommand, defaults: Defaults) -> Order:
    sides = {side.upper(): text for side, text in command.sides.items()}
    debaters, jurors = _debaters(defaults), _jurors(defaults)
    plain = command.model_dump(exclude={"sides", "jurors", "judges", "options"})
    return Order(
        platform=person.platform,
        community=person.community,
        place=person.place,
        user=person.user,
        models={side: choose_model(text, debaters) for side, text in sides.items()},
        jurors=tuple(choose_model(text, jurors) for text in command.jurors),
        judges=tuple(choose_model(text, jurors) for text in command.judges),
        options=_options(command, defaults),
        **plain,
    )


def _options(command: StartCommand, defaults: Defaults) -> dict[str, JsonValue]:
    """Return the format's options; judges that are named are as many as there are to be."""
    options: dict[str, JsonValue] = dict(command.options)
    known = find_format(command.format or defaults.format).options.model_fields
    if command.judges and JUDGES in known:
        options.setdefault(JUDGES, len(command.judges))
    return options


def _debaters(defaults: Defaults) -> tuple[Model, ...]:
    return (*defaults.models, *defaults.sides.values())


def _jurors(defaults: Defaults) -> tuple[Model, ...]:
    return (*defaults.jurors, *defaults.models)


def _held_here(person: Person, held: Sequence[Debate]) -> list[Debate]:
    """Return the debate of this very thread, or else those of this channel."""
    inside = [debate for debate in held if person.thread and debate.thread == person.thread]
    return inside or [debate for debate in held if debate.place == person.place]
