"""The reason for a debate's end, in the words that members may read before the reveal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

import structlog

from engine.delivery.fallbacks import CHANNEL_REVEAL, GIVEN, REVEAL, STARTER_REVEAL
from engine.store import DeliveryState, Intent, Lease, Outbox, Post, Store
from engine.values.debate import Cause, Debate, Status, short_code
from engine.values.errors import (
    BudgetError,
    ModelError,
    RostrumError,
    SettingsError,
    StoppedError,
    StoreError,
    VenueError,
)
from engine.values.failures import name_failure, no_answer, without_words
from engine.values.language import N_
from engine.values.messages import Alert, Reveal, Skipped, Where
from engine.values.ports import FaultKind
from engine.values.protocols import Unnamed
from engine.words.phrases import NEEDS, WAITS_TO_POST, WAITS_TO_REACT
from engine.words.translation import say

if TYPE_CHECKING:
    from engine.values.protocols import Venue

STOPPED_BY_BUG = N_(
    "Stopped by a bug in Rostrum; the details are in its log. Everything so far is kept; try to "
    "resume it."
)
MODEL_FAILED = N_(
    "A model gave no usable answer, even after a retry. The operator of Rostrum can see which one "
    "and resume the debate."
)
MODEL_MISSET = N_(
    "A model cannot be used as Rostrum is set up. The operator of Rostrum can see why and resume "
    "the debate."
)
MODEL_FULL = N_(
    "The debate has become too long for one of its models. Start it again with fewer rounds or "
    "other models; the operator of Rostrum can also replace the model and resume the debate."
)
OVER_BUDGET = N_(
    "It has reached the spending limit for one debate. To hear a whole debate on this, choose "
    "cheaper models, fewer rounds or fewer jurors."
)
MODEL_REFUSED = N_(
    "A model declined to argue this topic. Reword the topic, or start the debate with other "
    "models. The operator of Rostrum can see which one declined."
)
MODEL_AWAY = N_("A model cannot be reached at the moment; the debate goes on when it answers.")
NO_ROOM = N_("Rostrum has no room for it at the moment; it begins as soon as there is some.")
HELD_UP = N_("Rostrum could not continue it. The operator can see why and resume the debate.")
REFUSED = N_(
    "A problem with Rostrum's storage or settings prevented that. The operator can see the reason "
    "in the log; try again later."
)
AWAITS = "Waiting for "
UNNAMED_ALERT = "alert/names"
PLACES: dict[str, Where] = {REVEAL: "thread", CHANNEL_REVEAL: "channel", STARTER_REVEAL: "starter"}
UNDER_WAY = (DeliveryState.PENDING, DeliveryState.SENDING)
# Failures that asking again does not help, as they are named in public.
_MISSET = frozenset(
    name_failure(kind.value, None)
    for kind in (
        *(FaultKind.KEY, FaultKind.CREDIT, FaultKind.FORBIDDEN, FaultKind.UNKNOWN_MODEL),
        FaultKind.REDIRECTED,
    )
)
log = structlog.get_logger(__name__)
# As in “…; copy it again into ROSTRUM_DISCORD__TOKEN.” and “… a day (ROSTRUM_BUDGET__DEBATE_USD).”
_SETTING = re.compile(r" \(ROSTRUM_\w+\)|[,;](?: or)? [^,;.]*ROSTRUM_\w[^;.]*")


def reason_of(error: RostrumError) -> str:
    """Return the full reason for a debate's end, as stored for the operator."""
    if isinstance(error, StoppedError):
        return error.text
    members = said_of(error)
    return f"{members} {error}" if members == HELD_UP else str(error)


def cause_of(error: RostrumError) -> Cause:
    """Return the kind of reason for a debate's end."""
    if str(error) == STOPPED_BY_BUG:
        return Cause.BUG
    match error:
        case ModelError():
            return Cause.REFUSED if error.refused else Cause.MODEL
        case BudgetError():
            return Cause.BUDGET
        case StoppedError(ends="thread"):
            return Cause.THREAD
        case StoppedError():
            return Cause.PERSON if error.ends else Cause.STOPPED
        case _:
            return Cause.OTHER


def waiting_for(error: ModelError) -> str:
    """Return what a debate waits for that goes on when a model can be reached again."""
    return f"{AWAITS}{error.model}: {error}"


def awaited(reason: str) -> str:
    """Return the model that a debate waits for; empty for none, and for what is none."""
    awaits = reason.removeprefix(AWAITS).split(": ")[0] if reason.startswith(AWAITS) else ""
    return awaits if re.fullmatch(r"[^\s/]+/\S+", awaits) else ""


def said_of(error: RostrumError) -> str:
    """Return the reason without anything only the operator may read, such as models' names."""
    if isinstance(error, BudgetError):
        return OVER_BUDGET
    if isinstance(error, StoppedError) or str(error) == STOPPED_BY_BUG:
        return without_settings(str(error))
    if isinstance(error, ModelError) and error.refused:
        return MODEL_REFUSED
    return model_failed(error.problem) if isinstance(error, ModelError) else HELD_UP


def model_failed(problem: str) -> str:
    """Return what members read of a model that failed for good, by the public problem."""
    failed = problem.rpartition(no_answer(""))[2].partition(" (")[0]
    if failed in _MISSET:
        return MODEL_MISSET
    return MODEL_FULL if failed == FaultKind.CONTEXT else MODEL_FAILED


def needing(backends: Iterable[str]) -> str:
    """Return what a debate waits for whose backends no process with room has."""
    names = " and ".join(f"the backend “{name}”" for name in sorted(backends))
    return f"{NEEDS}{names}, and room for it."


def why(debate: Debate, *, outside: bool = False) -> str:
    """Return why a debate ended early or what it is waiting for; empty if it does neither.

    `outside`: for readers who are not in its chat, whose channels are none of theirs.
    """
    if outside and debate.gone:
        return N_("Its thread is gone, or Rostrum may not post there any more.")
    on_platform = tuple(waits.format(why="") for waits in (WAITS_TO_POST, WAITS_TO_REACT))
    if outside and debate.reason.startswith(on_platform):
        return N_("Its chat refuses a message or a reaction at the moment. Rostrum tries again.")
    if debate.reason.startswith(NEEDS):
        return NO_ROOM
    if awaited(debate.reason):
        return MODEL_AWAY
    if debate.status is Status.FAILED and debate.cause is Cause.REFUSED:
        return MODEL_REFUSED
    if debate.status is Status.FAILED and not debate.gone and debate.reason != STOPPED_BY_BUG:
        held_up = debate.reason.startswith(HELD_UP)
        return HELD_UP if held_up else model_failed(without_words(debate.reason))
    if debate.cause is Cause.BUDGET:
        return OVER_BUDGET
    return without_settings(without_words(debate.reason))


def refusal_of(error: RostrumError) -> str:
    """Return why a command failed, in the language spoken, without storage or settings."""
    if isinstance(error, SettingsError | StoreError):
        log.error("command refused", why=str(error))
        return say(REFUSED)
    if isinstance(error, ModelError) and error.failure:
        log.error("command refused", why=str(error))
        return say(model_failed(error.problem))
    return without_settings(say(error.text))


def without_settings(text: str) -> str:
    """Remove clauses that name a setting, which only the operator can change."""
    return _SETTING.sub("", text) if _SETTING.search(text) else text


async def posted_reveal(outbox: Outbox, debate: Debate) -> Reveal | None:
    """Return the reveal that a closed debate has, wherever it was posted."""
    for key in PLACES:
        intent = await outbox.find(debate.id, key)
        if intent is not None and isinstance(intent.message, Reveal):
            return intent.message
    return None


async def where_revealed(outbox: Outbox, debate: Debate) -> Where | None:
    """Return where a closed debate's models were named; None if it is not closed."""
    if debate.revealed_at is None:
        return None
    found: Where = "nowhere"
    for key, where in PLACES.items():
        intent = await outbox.find(debate.id, key)
        if intent is not None and intent.state in GIVEN:
            return where
        if intent is not None and intent.state in UNDER_WAY:
            found = "waiting"
    return found


# Where to post an alert to managers: wherever they read, else the channel of its debate.
#
# Each place is a separate message, queued like any other, so it is posted once.


@dataclass(frozen=True, slots=True)
class Alerts:
    """Makes sure that an alert reaches people somewhere."""

    venue: Venue
    store: Store
    _told: dict[str, Unnamed] = field(default_factory=dict)  # communities, and of what last

    async def address(self, lease: Lease, intent: Intent, alert: Alert | Skipped) -> Intent:
        """Return an alert addressed to its place, and queue it for the next manager.

        Raises VenueError if its manager is unknown now.
        """
        if alert.manager is None:
            return intent.model_copy(update={"thread": None})
        unnamed = isinstance(alert, Alert) and alert.unnamed != ""
        if not alert.manager and isinstance(alert, Alert) and not unnamed:
            log.warning(
                "budget of the day nearly used up",
                debate=intent.debate,
                percent=alert.percent,
                usd=alert.usd,
            )
        places = await self.venue.managers(intent.channel) if self.venue.managers else ()
        if not places and alert.manager == 0 and not unnamed:
            return intent.model_copy(update={"thread": None})
        if alert.manager >= len(places):
            raise VenueError("This manager is no longer one of those who can be told.")
        if alert.manager + 1 < len(places):
            await self._publish(lease, intent, alert, alert.manager + 1)
        return intent.model_copy(update={"thread": places[alert.manager]})

    async def tell_unnamed(self, lease: Lease, intent: Intent, why: Unnamed) -> None:
        """Queue an alert on why a side spoke under the bot's own name: once for each new cause.

        What was told before is read from the messages of the community's debates.
        """
        community = intent.community
        if self._told.get(community) == why:
            return
        self._told[community] = why
        keys = [_unnamed_key(each) for each in get_args(Unnamed)]
        told = await self.store.deliveries.newest(self.venue.platform, community, keys)
        if told is not None and isinstance(told.message, Alert) and told.message.unnamed == why:
            return
        code, language = short_code(intent.debate), intent.message.language
        message = Alert(language=language, code=code, unnamed=why)
        post = Post(key=_unnamed_key(why), message=message)
        await self.store.outbox.publish(lease, intent.debate, [post])

    async def go_elsewhere(self, lease: Lease, intent: Intent, alert: Alert | Skipped) -> None:
        """Queue an alert that cannot be posted for the channel, unless any manager gets it."""
        if alert.manager is None or (isinstance(alert, Alert) and alert.unnamed):
            return
        first = _first_key(intent, alert)
        if await self.store.outbox.find(intent.debate, _key(first, alert.manager + 1)) is not None:
            return
        known = [
            await self.store.outbox.find(intent.debate, _key(first, manager))
            for manager in range(alert.manager)
        ]
        if not any(found is not None and found.state in GIVEN for found in known):
            log.info("alert rerouted", debate=intent.debate)
            await self._publish(lease, intent, alert, None)

    async def _publish(
        self, lease: Lease, intent: Intent, alert: Alert | Skipped, manager: int | None
    ) -> None:
        message = alert.model_copy(update={"manager": manager})
        post = Post(key=_key(_first_key(intent, alert), manager), message=message)
        await self.store.outbox.publish(lease, intent.debate, [post])


def _unnamed_key(why: Unnamed) -> str:
    return f"{UNNAMED_ALERT}/{why}"


def _first_key(intent: Intent, alert: Alert | Skipped) -> str:
    """Return the key of the message for the first manager."""
    return intent.key.rpartition("/")[0] if alert.manager else intent.key


def _key(first: str, manager: int | None) -> str:
    if manager is None:
        return f"{first}/channel"
    return f"{first}/{manager}" if manager else first


# Debates that run by their state alone: the process that held them is gone.


INTERRUPTED = "interrupted"


async def interrupted(store: Store, debates: Iterable[Debate]) -> frozenset[str]:
    """Return the ids of those that no process holds, as from nine seconds after a kill on.

    One that waits for a person needs none. For readers beside the processes: the only process on a
    file knows no other holder.
    """
    running = [one.id for one in debates if one.status is Status.RUNNING]
    held = await store.leases.held("debate/", "") if running else {}
    free = [one for one in running if f"debate/{one}" not in held]
    return frozenset([one for one in free if not await store.guests.awaited(one)])


def way_on(debate: Debate) -> str:
    """Return the command that goes on with a debate that was interrupted."""
    if debate.series is not None and not debate.attended:
        return f"rostrum series run, with the file of {debate.series}"
    if debate.platform == "terminal":
        return f"rostrum resume {debate.code}"
    return "rostrum run"
