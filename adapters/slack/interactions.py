"""Answers commands and buttons: runs them after their acknowledgement, shows the answer privately.

Slow work happens here, once Slack has its acknowledgement.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog

from adapters.slack import texts
from adapters.slack.install.workspaces import Managers, Workspaces
from adapters.slack.render import controls, review_menus, row
from adapters.slack.rest import hand_over
from adapters.slack.venue import SlackPlace, ground_of, link_to
from adapters.slack.whisper import EphemeralReply, ReplyTarget
from engine.chat.answers.base import Answer, SentFile, to_markdown, vote_answer, voted_in
from engine.chat.answers.catalogue import HelpAnswer
from engine.chat.answers.debates import StartedAnswer
from engine.chat.answers.management import SettingsAnswer
from engine.chat.answers.own_data import OwnRecordAnswer
from engine.chat.answers.statistics import LeaderboardAnswer
from engine.chat.answers.voters import RemarkAnswer, ReviewAnswer
from engine.chat.commands import OWN_DATA, Commands, parse_command, with_usage
from engine.chat.context import Requester
from engine.chat.invocation import Invocation, RemarkArguments, SettingsArguments
from engine.chat.progress import OVER, Followers, follow
from engine.chat.settings import RESET, usual_language
from engine.delivery.reasons import refusal_of
from engine.fleet.leases import elapsed
from engine.run.plan import PlaceCapabilities
from engine.values.debate import BallotKind
from engine.values.errors import (
    NotAllowedError,
    RostrumError,
    UsageError,
    VenueError,
    VenueGoneError,
)
from engine.values.language import ENGLISH, speaking
from engine.values.options import parse_list
from engine.values.ports import ButtonPressed, Listener
from engine.words.phrases import COMMAND_BUG
from engine.words.translation import say

# A process that stood still reads requests that Slack has given up.
#
# Slack gives a command or a press up after three seconds, and people repeat it. It does not say so:
# over Socket Mode nothing tells how old a command is, and a stamp over HTTP is by another clock.
# What a process knows is that it stood still itself, frozen or blocked.


GIVEN_UP_SECONDS = 3.0
WAKING_SECONDS = 5.0  # in which all that came meanwhile has been read


class Standstill:
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
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class FollowUpPrompts:
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
class SlackInteractionHandler:
    """Answers commands, button presses and submitted forms."""

    commands: Commands
    listener: Listener
    workspaces: Workspaces
    managers: Managers
    followers: Followers = field(default_factory=Followers)
    offers: FollowUpPrompts = field(default_factory=FollowUpPrompts)
    standstill: Standstill = field(default_factory=Standstill)

    async def carry_out(
        self, asker: ReplyTarget, command: Invocation, *, in_place: bool = False
    ) -> None:
        """Run a command and show its answer, in place of the message of its button if told so."""
        whisper = EphemeralReply(self.workspaces, asker, in_place)

        async def run() -> None:
            await self.finish(whisper, await self.run(asker, command))

        with speaking(await self.language(asker)):
            await explained(whisper, run)

    async def carry_out_line(self, asker: ReplyTarget, line: str) -> None:
        """Run a typed command; errors in it are shown with its usage."""
        whisper = EphemeralReply(self.workspaces, asker)

        async def run() -> None:
            command = parse_command(line, hides=False)
            try:
                answer = await self.run(asker, command)
            except UsageError as error:
                raise with_usage(error, command.name, hides=False) from None
            await self.finish(whisper, answer)

        with speaking(await self.language(asker)):
            await explained(whisper, run)

    async def run(self, asker: ReplyTarget, command: Invocation) -> Answer:
        """Run a command. Raises RostrumError, whose message is for the person."""
        self.standstill.check()
        self.commands.check_database()
        _refuse_what_slack_lacks(command)
        person = await self._with_groups(await self._asking(asker, command))
        if person.manager:
            given = command.arguments
            if isinstance(given, SettingsArguments):
                named = given.changes.get("starters", "").strip()
                if named.casefold() not in RESET:
                    people = (await self.workspaces.find(person.community)).people
                    await people.groups(person.user, parse_list("starters", named))
        ground = PlaceCapabilities(no_removal=texts.NOT_HIDDEN)
        if command.name in ("start", "rematch", "league", "schedule"):
            ground = await ground_of(await self.workspaces.find(asker.team), asker.channel)
        person = person.model_copy(update={"ground": ground})
        return await self.commands.run(person, command)

    async def _asking(self, asker: ReplyTarget, command: Invocation) -> Requester:
        """Return who asks; their own data is theirs in a workspace too that is not served."""
        try:
            return await self.person(asker)
        except VenueGoneError:
            if command.name not in OWN_DATA:
                raise
            place = str(SlackPlace(asker.team, asker.channel))
            return Requester(
                platform=PLATFORM, community=asker.team, place=place, user=asker.user, max_bytes=0
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

    async def finish(self, whisper: EphemeralReply, answer: Answer) -> None:
        """Show an answer; after a start also a link to the thread, once it is open."""
        if isinstance(answer, ReviewAnswer):
            await self._offer(whisper, answer)
            return
        if isinstance(answer, SettingsAnswer):
            answer = answer.without(NO_SETTINGS)
        names = await self._names(whisper, answer)
        text = to_markdown(
            answer, link=await self._linked(whisper, answer), person=lambda user: names[user]
        )
        if isinstance(answer, RemarkAnswer):
            await whisper.say(text, *controls(answer.rows()))
            return
        if isinstance(answer, HelpAnswer) and answer.command is None:
            text = f"{text}\n{say(texts.FORMS)}"
        if isinstance(answer, SentFile):
            home = await self.workspaces.find(whisper.asker.team)
            await hand_over(home.rest, whisper.asker.user, text, answer)
            if whisper.asker.home:  # where it is now
                return
            text = f"{text}\n{say(texts.HANDED_OVER)}"
        await whisper.say(text, *([row(buttons)] if (buttons := answer.buttons()) else []))
        if isinstance(answer, StartedAnswer):
            self.followers.start(self._follow(whisper, answer.debate.id))

    async def _names(self, whisper: EphemeralReply, answer: Answer) -> dict[str, str]:
        """Return the names of people who want to be named in an answer."""
        if not isinstance(answer, LeaderboardAnswer):
            return {}
        home = await self.workspaces.find(whisper.asker.team)
        users = [one.user for one in answer.guessers]
        return {user: (await home.people.profile(user)).name or "?" for user in users}

    async def _linked(self, whisper: EphemeralReply, answer: Answer) -> Callable[[str], str]:
        """Return what makes a link of a thread; answers without any need no address for it."""
        if not isinstance(answer, OwnRecordAnswer | ReviewAnswer):
            return str
        home = await self.workspaces.find(whisper.asker.team)
        url = (await home.rest.identity()).url
        return lambda thread: say(texts.LINK, link=link_to(url, SlackPlace.parse(thread)))

    async def _offer(self, whisper: EphemeralReply, review: ReviewAnswer) -> None:
        """Show debates to review, each with a link and a menu."""
        text = to_markdown(review, link=await self._linked(whisper, review))
        await whisper.say(text, *([review_menus(review.lines)] if review.lines else []))

    async def vote(self, asker: ReplyTarget, pressed: ButtonPressed) -> None:
        """Cast a vote by button, and show the result."""
        whisper = EphemeralReply(self.workspaces, asker)

        async def run() -> None:
            self.commands.check_database()
            heard = await self.listener(pressed)
            debate = voted_in(heard)
            more = await self._remark(asker, debate) if debate else None
            with speaking(await self.language(asker, many=True)):
                said = vote_answer(heard)
                if more is None:
                    await whisper.say(said)
                else:
                    await whisper.say(f"{said}\n\n{to_markdown(more)}", *controls(more.rows()))

        await explained(whisper, run)

    async def offer(self, asker: ReplyTarget, debate: str) -> None:
        """Ask somebody who has just voted by a reaction what else they may say, once a debate.

        When many vote at once, some are not asked; the invitation's button is there for them.
        """
        if not self.offers.begin(debate, asker.user):
            return
        try:
            home = await self.workspaces.find(asker.team)
            more = await self._remark(asker, debate)
            if more is not None and not (await home.people.profile(asker.user)).bot:
                with speaking(await self.language(asker, many=True)):
                    whisper = EphemeralReply(self.workspaces, asker)
                    await whisper.offer(to_markdown(more), *controls(more.rows()))
        except RostrumError as error:
            log.info("nothing offered beside a vote", why=str(error))
        finally:
            self.offers.end()

    async def _remark(self, asker: ReplyTarget, debate: str) -> RemarkAnswer | None:
        """Return what a voter may say beside their vote; None for nothing."""
        try:
            asked = Invocation("remark", RemarkArguments(debate=debate))
            answer = await self.run(asker, asked)
        except RostrumError as error:  # the vote itself is stored
            log.info("nothing offered beside a vote", why=str(error))
            return None
        return answer if isinstance(answer, RemarkAnswer) and answer.open else None

    async def language(self, asker: ReplyTarget, *, many: bool = False, ask: bool = True) -> str:
        """Return the language that a person reads: their own, else their community's.

        `many` may need theirs at once; without `ask` Slack is not asked.
        """
        if asker.language:
            return asker.language
        try:
            home = await self.workspaces.find(asker.team)
            own = home.people.known_language(asker.user)
            if ask and not own:
                own = await home.people.language(asker.user, many=many)
            if own or self.commands.store.away:
                return own or ENGLISH
            return await usual_language(self.commands, PLATFORM, home.team)
        except RostrumError as error:
            log.info("person lookup failed", why=str(error))
            return ENGLISH

    async def person(self, asker: ReplyTarget) -> Requester:
        """Return the person and their place. Raises NotAllowedError outside a channel."""
        if asker.direct:
            raise NotAllowedError(texts.NOT_HERE)
        home = await self.workspaces.find(asker.team)
        profile = await home.people.profile(asker.user)
        return Requester(
            platform=PLATFORM,
            community=home.team,
            place=str(SlackPlace(home.team, asker.channel)),
            channel=asker.channel,
            thread=asker.thread,
            user=asker.user,
            manager=profile.admin or asker.user in await self.managers.of(home.team),
            max_bytes=MOST_BYTES,
        )

    async def _follow(self, whisper: EphemeralReply, debate_id: str) -> None:
        """Show a link to the thread, then an abnormal end, while Slack accepts private answers."""
        person = await self.person(whisper.asker)
        async for status in follow(self.commands, person, debate_id, FOLLOWED_SECONDS):
            thread = status.debate.thread
            if status.debate.status in OVER:
                await whisper.say(to_markdown(status))
                if thread is None:
                    await whisper.say(say(texts.NO_THREAD))
            elif thread is not None:
                home = await self.workspaces.find(whisper.asker.team)
                url = (await home.rest.identity()).url
                await whisper.say(say(texts.THREAD, link=link_to(url, SlackPlace.parse(thread))))


async def explained(whisper: EphemeralReply, run: Callable[[], Awaitable[None]]) -> None:
    """Run something, or show why it failed."""
    try:
        await run()
    except RostrumError as error:
        await whisper.say(refusal_of(error))
    except Exception:  # the person gets an answer, and the log has the details
        log.exception("unhandled error in a command")
        await whisper.say(say(COMMAND_BUG))


def _refuse_what_slack_lacks(command: Invocation) -> None:
    """Refuse settings that Slack does not support: a secret ballot, a role, a least age."""
    given = command.arguments
    if isinstance(given, SettingsArguments):
        ballot = given.changes.get("ballot", "").strip().casefold()
        if ballot == BallotKind.SECRET:
            raise UsageError(texts.NOT_HIDDEN)
        if ballot not in (*texts.BALLOTS, *RESET):
            raise UsageError(texts.BALLOT_IS)
        if given.changes.get("manager_role", "") not in RESET:
            raise UsageError(texts.NO_ROLES)
        if {given.changes.get(f"{whose}_days", "") for whose in ("account", "member")} - RESET:
            raise UsageError(texts.NO_AGES)
