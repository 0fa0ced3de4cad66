"""Who may use a command."""

from __future__ import annotations

from typing import NamedTuple

from engine.chat.person import Person, settings_of
from engine.store import Store
from engine.values.debate import Debate
from engine.values.errors import NotAllowedError
from engine.values.language import Text


class Who(NamedTuple):
    """Who may use a command: `note` goes into its help, `task` into the refusal."""

    note: str = ""
    task: str = ""


EVERYONE = Who()
LEAGUE_STARTERS = Who(" (managers start and stop it)")  # checked once it is known what to do
DELETERS = Who(" (its starter before anyone has voted, or a manager)")
LISTERS = Who(" (managers approve and remove)")  # checked once it is known what to do
SCHEDULERS = Who(" (managers set and end it)")
STARTER = Who(" (its starter or a manager)")  # checked once the debate is known


def managers(task: str) -> Who:
    """Restrict a task such as “close a vote early” to managers."""
    return Who(" (managers)", task)


async def check(who: Who, store: Store, person: Person) -> None:
    """Refuse a person who may not use a command. Raises NotAllowedError."""
    if who.task and not await manages(store, person):
        raise NotAllowedError(
            "Only a manager of this community can {task}; please ask one.",
            task=Text(who.task),
        )


async def check_started(store: Store, person: Person, debate: Debate) -> bool:
    """Return whether a person started a debate. Raises NotAllowedError for anyone but managers."""
    if await store.debates.is_starter(debate.id, person.user):
        return True
    if not await manages(store, person):
        raise NotAllowedError(
            "Only its starter or a manager can stop debate {code}; please ask them.",
            code=debate.code,
        )
    return False


async def check_may_start(store: Store, person: Person) -> None:
    """Refuse someone outside the groups that may start debates. Raises NotAllowedError."""
    allowed = (await settings_of(store, person)).starters
    if allowed and not person.roles.intersection(allowed) and not await manages(store, person):
        if person.roles_unknown:
            raise NotAllowedError(
                "Only some groups may start debates here, and who is in them cannot be read now. "
                "Ask a manager. {why}",
                why=person.roles_unknown,
            )
        raise NotAllowedError(
            "Only some roles or groups may start debates here, and you are in none of them; "
            "suggest the topic instead, or ask a manager."
        )


async def manages(store: Store, person: Person) -> bool:
    """Return whether a person manages the community."""
    return person.manager or (await settings_of(store, person)).manager_role in person.roles
