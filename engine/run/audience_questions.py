"""What the audience asks the sides of a debate, from a form or a keyboard to the store."""

from __future__ import annotations

from engine.fleet.leases import Notifier
from engine.run.service import Service
from engine.store import Store
from engine.store.guests import MOST_ASKED
from engine.values.debate import Debate
from engine.values.errors import NotAllowedError, UsageError
from engine.values.language import N_
from engine.values.ports import Clock
from engine.values.text import clean, is_visible, redact
from engine.values.topics import check_words
from engine.votes.audience import MOST_LISTED, standing_questions

LONGEST_QUESTION = 300  # characters
OVER = N_("The time for questions is over, so nothing was changed.")
UNKNOWN = N_("There is no question {number} here. Give the number of one in the list.")


def read_question(given: str) -> str:
    """Return a question as it is kept: one line, without mentions. Raises UsageError."""
    text = " ".join(redact(clean(given)).split())
    if not is_visible(text):
        raise UsageError("Your question is empty. Write one that both sides can answer.")
    if len(text) > LONGEST_QUESTION:
        raise UsageError(
            "Your question has {n} characters; at most {most} are allowed. Shorten it.",
            n=len(text),
            most=LONGEST_QUESTION,
        )
    return text


async def ask(service: Service, debate: Debate, user: str, given: str) -> int:
    """Keep a person's question and return its number.

    Raises UsageError for one that cannot be taken, NotAllowedError for a forgotten person, and
    ModelError while a moderation model cannot be asked.
    """
    store, text = service.store, read_question(given)
    await _check(service, debate, text)
    now = service.clock.now()
    outcome, number = await store.guests.ask(debate.id, debate.platform, user, text, now)
    if outcome == "forgotten":
        raise NotAllowedError(
            "You asked to be forgotten, so your question is not stored. Use /debate optin to take "
            "part in debates that start after it."
        )
    refusals = {
        "again": N_(
            "You have asked a question already, number {number}. To ask another one, remove "
            "that one first."
        ),
        "often": N_("You cannot ask another question in this debate."),
        "full": N_(
            "This debate has {most} questions already and takes no more. Support one of them."
        ),
        "closed": OVER,
    }
    if outcome in refusals:
        raise UsageError(refusals[outcome], number=number, most=MOST_ASKED)
    service.notifier.notify(f"closed/{debate.id}")  # the runner waits there, and lists it
    return number


async def _check(service: Service, debate: Debate, text: str) -> None:
    """Check a question as topics are checked, while questions are taken."""
    time = await service.store.guests.question_time(debate.id)
    if time is None or time.closed_at is not None:
        raise UsageError(OVER)
    settings = await service.store.communities.get(debate.platform, debate.community)
    check_words(settings.blocked_words, text)
    await service.moderate(
        [text],
        N_(
            "The automatic check for harmful content flagged your question, so it was not "
            "asked. Reword it."
        ),
    )


async def is_listed(store: Store, debate: Debate, number: int) -> bool:
    """Return whether people can support a question: only the first ones are listed."""
    listed = standing_questions(await store.guests.questions(debate.id))[:MOST_LISTED]
    return any(one.number == number for one in listed)


async def remove(
    store: Store,
    notifier: Notifier,
    clock: Clock,
    debate: Debate,
    user: str,
    number: int,
    *,
    manager: bool,
) -> None:
    """Take a question back, one's own or as a manager. Raises UsageError or NotAllowedError."""
    outcome = await store.guests.remove_question(
        debate.id, number, debate.platform, user, manager=manager, now=clock.now()
    )
    if outcome == "others":
        raise NotAllowedError(
            "Question {number} is someone else's. Only they and managers can remove it.",
            number=number,
        )
    if outcome == "closed":
        raise UsageError(OVER)
    if outcome == "unknown":
        raise UsageError(UNKNOWN, number=number)
    notifier.notify(f"closed/{debate.id}")
