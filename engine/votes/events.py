"""Platform events, from receipt to storage; adapters only translate them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import structlog

from engine.fleet.leases import Services
from engine.store import Cast, Intervention, Outcome, Target
from engine.values.debate import BallotKind
from engine.values.ports import (
    ButtonPressed,
    CommunityChanged,
    ConnectionGap,
    Inbound,
    ReactionsCleared,
    ReactionSeen,
    ThreadChanged,
    VisibleReaction,
)
from engine.values.verdicts import How, Question
from engine.votes.outcome import EventOutcome
from engine.votes.recovery import ReactionReader, Removals, days_since

if TYPE_CHECKING:
    from engine.values.protocols import Venue

MOST_REMEMBERED = 10_000
MISSED = "missed"  # wakes the vote window to read reactions again
# For secret ballots: no choice may be visible on the message.
HIDDEN = ("stored", "duplicate", "forgotten")
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Hearing:
    """Handles the events of one platform."""

    venue: Venue
    services: Services
    removals: Removals
    reader: ReactionReader
    _targets: dict[tuple[str, str], Target] = field(default_factory=dict)
    _looking: WeakValueDictionary[tuple[str, str], asyncio.Lock] = field(
        default_factory=WeakValueDictionary
    )

    async def hear(self, event: Inbound) -> EventOutcome:
        """Interpret and store an event; it is stored when this returns."""
        await self.reader.listen()
        match event:
            case ReactionSeen():
                return await self._react(event)
            case ButtonPressed():
                return await self._press(event)
            case ReactionsCleared():
                return await self._note_clearing(event)
            case ThreadChanged(act="deleted") | CommunityChanged(lost=True):
                from engine.votes.interventions import lose  # few places are lost

                return await lose(event, self.venue, self.services)
            case ThreadChanged():
                from engine.votes.interventions import shut  # few threads are shut

                return await shut(event, self.venue, self.services)
            case CommunityChanged():
                self.services.notifier.publish(f"granted/{self.venue.platform}")
                return EventOutcome(outcome="noted")
            case ConnectionGap(phase="lost" | "resumed"):
                self.reader.told(event.connection, lost=event.phase == "lost")
                return EventOutcome(outcome="noted")
            case ConnectionGap():
                await self.reader.hear_again(event.connection)
                self.services.notifier.publish(f"votes/{self.venue.platform}", MISSED)
                return EventOutcome(outcome="noted")

    async def _react(self, seen: ReactionSeen) -> EventOutcome:
        target = await self._find(seen.place, seen.message)
        option = target.option_of(seen.option) if target else None
        if target is None or option is None:
            return EventOutcome(outcome="unknown")
        if target.ballot is BallotKind.PRIVATE:
            return EventOutcome(outcome="unknown")  # it is answered by button alone
        if target.ballot is BallotKind.SECRET and not seen.added:
            return EventOutcome(outcome="noted")  # the echo of the bot's own removal
        variant, now = target.variant_of(seen.option), self.services.clock.now()
        outcome = await self.services.store.votes.cast(
            Cast(
                platform=self.venue.platform,
                place=seen.place,
                message=seen.message,
                user=seen.user,
                option=option,
                variant=variant,
                added=seen.added,
                event=seen.event,
                given_at=seen.given_at,
                heard_from=self.reader.heard_from,
                received_at=now,
                account_days=self._account_days(seen.user, now),
                member_days=days_since(seen.joined_at, now),
            )
        )
        self._count(target, How.LIVE, outcome)
        if target.ballot is BallotKind.SECRET and outcome in HIDDEN:
            shown = VisibleReaction(seen.place, seen.message, seen.user, seen.option, variant)
            self.removals.add(shown)
        voted = target.question is Question.VOTE and seen.added and outcome == "stored"
        return EventOutcome(outcome=outcome, voted=target.debate if voted else "")

    def _account_days(self, user: str, now: datetime) -> int | None:
        made_at = self.venue.account_made_at
        return days_since(made_at(user), now) if made_at else None

    async def _press(self, pressed: ButtonPressed) -> EventOutcome:
        now = self.services.clock.now()
        outcome, option = await self.services.store.ballots.press(
            self.venue.platform,
            pressed,
            now,
            account_days=self._account_days(pressed.user, now),
            member_days=days_since(pressed.joined_at, now),
        )
        target = await self._find(pressed.place, pressed.message)
        if target is None:
            return EventOutcome(outcome=outcome, option=option)
        self._count(target, How.BUTTON, outcome)
        given = {"outcome": outcome, "option": option, "question": target.question}
        if target.question is Question.SUPPORT:
            return EventOutcome(**given)
        voted = target.question is Question.VOTE and option and outcome == "stored"
        name = ""
        if option and option.isdigit():  # an agent's
            debate = await self.services.store.debates.get(target.debate)
            name = debate.setup.called.get(option, "")
        return EventOutcome(**given, name=name, voted=target.debate if voted else "")

    def _count(self, target: Target, how: How, outcome: Outcome) -> None:
        self.services.lease_manager.watch.answered(
            self.venue.platform, target.question, how, outcome, 1
        )

    async def _note_clearing(self, event: ReactionsCleared) -> EventOutcome:
        target = await self._find(event.place, event.message)
        option = target.option_of(event.option) if target and event.option else None
        if target is None or (event.option and option is None):
            return EventOutcome(outcome="unknown")
        noted = Intervention.on(target, "cleared", self.services.clock.now(), option)
        await self.services.store.votes.intervene(target, noted)
        log.warning("vote tampering ignored", debate=target.debate, act=noted.act)
        return EventOutcome(outcome="noted")

    async def _find(self, place: str, message: str) -> Target | None:
        """Return the question of a message; cached, as it never changes."""
        key = (place, message)
        if key not in self._targets:
            # People react in crowds; one lookup serves them all.
            async with self._looking.setdefault(key, asyncio.Lock()):
                if key not in self._targets:
                    platform = self.venue.platform
                    target = await self.services.store.votes.target(platform, place, message)
                    if target is not None:
                        if len(self._targets) >= MOST_REMEMBERED:
                            self._targets.clear()
                        self._targets[key] = target
        return self._targets.get(key)
