"""Answers commands and buttons: runs them after their acknowledgement, shows the answer privately.

Slow work happens here, once Slack has its acknowledgement.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from adapters.slack import texts
from adapters.slack.errors import SlackAct
from adapters.slack.payloads import ReplyTarget
from adapters.slack.render import below, fallback, markdown_block, pieces_of
from adapters.slack.rest import Json, hand_over
from adapters.slack.venue import SlackPlace, capabilities_of, link_to
from adapters.slack.workspaces import Workspaces, managers_in
from engine.chat.answers import Answer, to_markdown
from engine.chat.answers.catalogue import HelpAnswer
from engine.chat.answers.debates import StatusAnswer
from engine.chat.answers.management import SettingsAnswer
from engine.chat.answers.own_data import OwnRecordAnswer
from engine.chat.answers.statistics import LeaderboardAnswer
from engine.chat.answers.voters import ReviewAnswer
from engine.chat.commands import OWN_DATA, parse_command, with_usage
from engine.chat.context import Requester
from engine.chat.interactions import OVER, InteractionHandler
from engine.chat.invocation import (
    Invocation,
    parse_list,
)
from engine.chat.settings import RESET, usual_language
from engine.fleet.leases import elapsed
from engine.run.order import PlaceCapabilities
from engine.values.debate import BallotKind
from engine.values.errors import (
    NotAllowedError,
    RostrumError,
    UsageError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
)
from engine.values.language import ENGLISH, speaking
from engine.values.ports import Backoff
from engine.words.translation import say

# Private answers, by response URL or ephemeral message.
#
# A response URL is valid for five uses in half an hour; after that, or if it fails, an ephemeral
# message is used. While neither is reachable, both are retried with growing pauses. Slack cannot
# say whether an answer was shown: if the response was lost, the answer appears twice, which is
# better than not at all.


FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
USES, GOOD_SECONDS = 5, 1700.0  # of 1,800, as Slack's clock started earlier
log = structlog.get_logger(__name__)


@dataclass
class _EphemeralReply:
    """Answers privately, visible only to the person who asked.

    `in_place`: an answer replaces the private message whose button was pressed.
    """

    workspaces: Workspaces
    requester: ReplyTarget
    in_place: bool = False
    _uses: int = 0
    _may_pass: bool = False  # whether the last failure is temporary
    _why: str = ""
    _began: float = field(default_factory=time.monotonic)

    async def say(self, text: str, *actions: Json) -> None:
        """Show Markdown in as many messages as needed; `actions` go below the last."""
        pieces = pieces_of(text) or ("…",)
        for left, piece in zip(range(len(pieces) - 1, -1, -1), pieces, strict=True):
            blocks = [markdown_block(piece)]
            if not left:
                blocks += actions
            said: Json = {"text": fallback(piece), "blocks": blocks}
            await self._insist(said)

    async def offer(self, text: str, *actions: Json) -> None:
        """Show Markdown once, in the thread; as no one asked for it, a failure is only logged."""
        said: Json = {"text": fallback(text)}
        if not await self._show(said | {"blocks": [markdown_block(text), *actions]}):
            log.info("nothing offered beside a vote", why=self._why)

    async def _insist(self, said: Json) -> None:
        """Try both ways, with growing pauses, while a failure is temporary."""
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while not (await self._respond(said) or await self._show(said)):
            if not self._may_pass or self._age + backoff.pause > GOOD_SECONDS:
                log.warning("answer lost", place=self.requester.channel, why=self._why)
                return
            log.info("private answer retried", why=self._why)
            await asyncio.sleep(backoff.next())

    @property
    def _age(self) -> float:
        return time.monotonic() - self._began

    async def _respond(self, said: Json) -> bool:
        self._may_pass = False
        if not self.requester.response_url or self._uses >= USES or self._age > GOOD_SECONDS:
            return False
        self._uses += 1
        body = {"response_type": "ephemeral", "replace_original": self.in_place, **said}
        try:
            return await self.workspaces.app.respond(self.requester.response_url, body)
        except VenueAwayError as error:
            self._may_pass, self._why = self._uses < USES, str(error)
            return False

    async def _show(self, said: Json) -> bool:
        body = {"channel": self.requester.channel, "user": self.requester.user, **said}
        if self.requester.root:
            body["thread_ts"] = self.requester.root
        try:
            rest = (await self.workspaces.find(self.requester.team)).rest
            if self.requester.home:
                said = {"channel": self.requester.user, **said}
                await rest.write(SlackAct.POST, "chat.postMessage", said, place=self.requester.user)
            else:
                await rest.write(
                    SlackAct.ASK, "chat.postEphemeral", body, place=self.requester.channel
                )
        except VenueError as error:
            self._may_pass |= isinstance(error, VenueAwayError)
            self._why = str(error)
            return False
        return True


# A process that stood still reads requests that Slack has given up.
#
# Slack gives a command or a press up after three seconds, and people repeat it. It does not say so:
# over Socket Mode nothing tells how old a command is, and a stamp over HTTP is by another clock.
# What a process knows is that it stood still itself, frozen or blocked.


GIVEN_UP_SECONDS = 3.0
WAKING_SECONDS = 5.0  # in which all that came meanwhile has been read


class _Standstill:
    """Notices that the process stood still: nobody called `beat` for too long."""

    def __init__(self) -> None:
        self._beat_at = self._woke_at = 0.0
        self.begin()

    def begin(self) -> None:
        """Let `beat` be called from now on."""
        self._beat_at = elapsed()
        self._woke_at = self._beat_at - WAKING_SECONDS

    def beat(self) -> None:
        """Note that the process goes on."""
        now = elapsed()
        if now - self._beat_at > GIVEN_UP_SECONDS:
            self._woke_at = now
        self._beat_at = now

    def check(self) -> None:
        """Raise RostrumError for what may have come before the process went on."""
        self.beat()
        if self._beat_at - self._woke_at < WAKING_SECONDS:
            raise RostrumError(texts.STOOD_STILL)


PLATFORM = "slack"
MOST_BYTES = 100 * 2**20  # Slack accepts a gigabyte, but exports are built in memory
NO_SETTINGS = ("manager_role", "account_days", "member_days")  # that Slack does not support
FOLLOWED_SECONDS = 1700.0  # of the half hour in which Slack accepts answers
MOST_OFFERED_AT_ONCE, MOST_OFFERS_REMEMBERED = 20, 10_000


@dataclass(slots=True)
class _FollowUpPrompts:
    """Who was asked, unbidden, to say more about their vote; a few are asked at a time."""

    _made: dict[tuple[str, str], None] = field(default_factory=dict)
    _going_on: int = 0

    def begin(self, debate: str, user: str) -> bool:
        """Return whether to ask somebody now; then `end` follows."""
        if (debate, user) in self._made or self._going_on >= MOST_OFFERED_AT_ONCE:
            return False
        if len(self._made) >= MOST_OFFERS_REMEMBERED:
            self._made.clear()
        self._made[debate, user] = None
        self._going_on += 1
        return True

    def end(self) -> None:
        """Note that somebody has been asked."""
        self._going_on -= 1


@dataclass(frozen=True, slots=True)
class SlackInteractionHandler(InteractionHandler[_EphemeralReply]):
    """Answers commands, button presses and submitted forms."""

    workspaces: Workspaces
    managers: Sequence[str]  # as the operator has listed them
    offers: _FollowUpPrompts = field(default_factory=_FollowUpPrompts)
    standstill: _Standstill = field(default_factory=_Standstill)

    def reply(self, requester: ReplyTarget, *, in_place: bool = False) -> _EphemeralReply:
        """Return how to answer somebody; `in_place` of the message of their button if told so."""
        return _EphemeralReply(self.workspaces, requester, in_place)

    async def carry_out(
        self, requester: ReplyTarget, asked: Invocation | str, *, in_place: bool = False
    ) -> None:
        """Run a command and show its answer; errors in a typed one are shown with its usage."""
        requester = requester._replace(language=await self.language(requester))
        reply = self.reply(requester, in_place=in_place)

        async def run() -> Answer:
            if not isinstance(asked, str):
                return await self.run(reply, asked)
            command = parse_command(asked, hides=False)
            try:
                return await self.run(reply, command)
            except UsageError as error:
                raise with_usage(error, command.name, hides=False) from None

        with speaking(requester.language):
            await self.answer(reply, run)

    async def requester(
        self, reply: _EphemeralReply, command: Invocation | None = None
    ) -> Requester:
        """Return who asks, and for a command also their groups, and what the channel lacks."""
        requester = reply.requester
        if command is None:
            return await self.person(requester)
        self.standstill.check()
        if command.name == "settings":
            changes: Mapping[str, str] = command.arguments.get("changes", {})
            ballot = changes.get("ballot", "").strip().casefold()
            if ballot == BallotKind.SECRET:
                raise UsageError(texts.NOT_HIDDEN)
            if ballot not in (*texts.BALLOTS, *RESET):
                raise UsageError(texts.BALLOT_IS)
            if changes.get("manager_role", "") not in RESET:
                raise UsageError(texts.NO_ROLES)
            if {changes.get(f"{whose}_days", "") for whose in ("account", "member")} - RESET:
                raise UsageError(texts.NO_AGES)
        person = await self._with_groups(await self._asking(requester, command))
        if person.manager and command.name == "settings":
            named = command.arguments.get("changes", {}).get("starters", "").strip()
            if named.casefold() not in RESET:
                people = (await self.workspaces.find(person.community)).people
                await people.groups(person.user, parse_list("starters", named))
        capabilities = PlaceCapabilities(no_removal=texts.NOT_HIDDEN)
        if command.name in ("start", "rematch", "league", "schedule"):
            capabilities = await capabilities_of(
                await self.workspaces.find(requester.team), requester.channel
            )
        return person.model_copy(update={"capabilities": capabilities})

    async def _asking(self, requester: ReplyTarget, command: Invocation) -> Requester:
        """Return who asks; their own data is theirs in a workspace too that is not served."""
        try:
            return await self.person(requester)
        except VenueGoneError:
            if command.name not in OWN_DATA:
                raise
            place = str(SlackPlace(requester.team, requester.channel))
            return Requester(
                platform=PLATFORM,
                community=requester.team,
                place=place,
                user=requester.user,
                max_bytes=0,
            )

    async def _with_groups(self, person: Requester) -> Requester:
        """Add the user groups that matter: those that may start debates, where only some may."""
        settings = await self.commands.store.communities.get(PLATFORM, person.community)
        if not settings.starters or person.manager:
            return person
        people = (await self.workspaces.find(person.community)).people
        try:
            roles = await people.groups(person.user, settings.starters)
        except VenueError as error:
            return person.model_copy(update={"roles_unknown": error.text})
        return person.model_copy(update={"roles": roles})

    async def show(self, reply: _EphemeralReply, answer: Answer) -> None:
        """Show an answer, in the person's language; many may vote at once, and need theirs."""
        requester = reply.requester
        with speaking(await self.language(requester, many=True)):
            if isinstance(answer, SettingsAnswer):
                answer = answer.without(NO_SETTINGS)
            link: Callable[[str], str] = str
            names: dict[str, str] = {}
            if isinstance(answer, OwnRecordAnswer | ReviewAnswer):
                url = (await (await self.workspaces.find(requester.team)).rest.identity()).url
                link = lambda at: say(texts.LINK, link=link_to(url, SlackPlace.parse(at)))  # noqa: E731
            if isinstance(answer, LeaderboardAnswer):
                people = (await self.workspaces.find(requester.team)).people
                for user in (one.user for one in answer.guessers):
                    names[user] = (await people.profile(user)).name or "?"
            text = to_markdown(answer, link=link, person=lambda user: names[user])
            if isinstance(answer, HelpAnswer) and answer.command is None:
                text = f"{text}\n{say(texts.FORMS)}"
            if answer.file:
                rest = (await self.workspaces.find(requester.team)).rest
                await hand_over(rest, requester.user, text, answer.file)
                if requester.home:  # where it is now
                    return
                text = f"{text}\n{say(texts.HANDED_OVER)}"
            await reply.say(text, *below(answer))

    async def explain(self, reply: _EphemeralReply, why: Callable[[], str]) -> None:
        """Show why there is no answer, in the person's language."""
        with speaking(await self.language(reply.requester, many=True)):
            await reply.say(why())

    def seconds_left(self, reply: _EphemeralReply) -> float:
        """Return for how long Slack accepts private answers."""
        return FOLLOWED_SECONDS

    async def show_progress(self, reply: _EphemeralReply, status: StatusAnswer) -> None:
        """Show a link to the thread, then an abnormal end."""
        thread = status.debate.thread
        if status.debate.status in OVER:
            await reply.say(to_markdown(status))
            if thread is None:
                await reply.say(say(texts.NO_THREAD))
        elif thread is not None:
            url = (await (await self.workspaces.find(reply.requester.team)).rest.identity()).url
            await reply.say(say(texts.THREAD, link=link_to(url, SlackPlace.parse(thread))))

    async def offer(self, requester: ReplyTarget, debate: str) -> None:
        """Ask somebody who has just voted by a reaction what else they may say, once a debate.

        When many vote at once, some are not asked; the invitation's button is there for them.
        """
        if not self.offers.begin(debate, requester.user):
            return
        try:
            home = await self.workspaces.find(requester.team)
            more = await self.remark(self.reply(requester), debate)
            if more is not None and not (await home.people.profile(requester.user)).bot:
                with speaking(await self.language(requester, many=True)):
                    await self.reply(requester).offer(to_markdown(more), *below(more))
        except RostrumError as error:
            log.info("nothing offered beside a vote", why=str(error))
        finally:
            self.offers.end()

    async def language(
        self, requester: ReplyTarget, *, many: bool = False, ask: bool = True
    ) -> str:
        """Return the language that a person reads: their own, else their community's.

        `many` may need theirs at once; without `ask` Slack is not asked.
        """
        if requester.language:
            return requester.language
        try:
            home = await self.workspaces.find(requester.team)
            own = home.people.known_language(requester.user)
            if ask and not own:
                own = await home.people.language(requester.user, many=many)
            if own or self.commands.store.away:
                return own or ENGLISH
            return await usual_language(self.commands, PLATFORM, home.team)
        except RostrumError as error:
            log.info("person lookup failed", why=str(error))
            return ENGLISH

    async def person(self, requester: ReplyTarget) -> Requester:
        """Return the person and their place. Raises NotAllowedError outside a channel."""
        if requester.direct:
            raise NotAllowedError(texts.NOT_HERE)
        home = await self.workspaces.find(requester.team)
        profile = await home.people.profile(requester.user)
        return Requester(
            platform=PLATFORM,
            community=home.team,
            place=str(SlackPlace(home.team, requester.channel)),
            channel=requester.channel,
            thread=requester.thread,
            user=requester.user,
            manager=profile.admin
            or requester.user in await managers_in(self.workspaces, self.managers, home.team),
            max_bytes=MOST_BYTES,
        )
