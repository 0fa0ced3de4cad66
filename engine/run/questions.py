"""What the audience asks the sides before they close: the time for it, and each question.

Questions come in at whichever process has the platform's connection, by a form or a keyboard, and
are read by the debate from the store. What is put to the sides is stored once, with how people
supported it.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.blinding import identity
from engine.fleet.leases import LeaseManager, Notifier
from engine.run.service import Service
from engine.store import Lease, Note, Post, Store
from engine.store.guests import MOST_ASKED
from engine.store.targets import AudienceQuestion
from engine.values.debate import Debate
from engine.values.errors import NotAllowedError, UsageError
from engine.values.language import N_
from engine.values.messages import QuestionsClosed, QuestionsInvite
from engine.values.ports import Clock
from engine.values.text import clean, is_visible, redact
from engine.values.topics import check_words, has_blocked
from engine.values.verdicts import QUESTIONS, Artifact, Question
from engine.votes.audience import MOST_LISTED, choose, standing_questions, support_of

KEY = "questions"
LOOK_SECONDS = 1.0  # between two looks, and so at least between two edits of the list


@dataclass(frozen=True, slots=True)
class QuestionTime:
    """The question time of one debate, while its lease is held."""

    debate: Debate
    lease: Lease
    store: Store
    lease_manager: LeaseManager
    notifier: Notifier

    async def hold(self) -> tuple[str, ...]:
        """Ask for questions, list them until the time is over, and return what is put.

        Begun again after a kill it goes on: its invitation is posted once, and its end is a row.
        """
        debate_id = self.debate.id
        await self._post(Post(key=KEY, message=self._list(())))
        shown: Sequence[AudienceQuestion] = ()
        while (
            time := await self.store.guests.question_time(debate_id)
        ) is None or time.closed_at is None:
            asked = await self._asked()
            if shown != asked:
                # Its key says what it shows, so that a list that was posted before is not again.
                gone = len(asked) - len(standing_questions(asked))
                key = f"{KEY}/{len(asked)}-{gone}"
                await self._post(Post(key=key, message=self._list(asked), target=KEY))
                shown = asked
            self.lease_manager.check()
            await self.notifier.wait(f"closed/{debate_id}", LOOK_SECONDS)
        return await self._put()

    async def _put(self) -> tuple[str, ...]:
        """Store what is put to the sides, with the end of the list, and return it."""
        asked = await self._asked()
        support = support_of(await self.store.votes.events(self.debate.id, Question.SUPPORT))
        chosen = choose(asked, support)
        put = tuple(one.text for one in chosen)
        numbers = [one.number for one in chosen]
        body = {
            "put": put,
            "numbers": numbers,
            "support": {str(one.number): support.get(one.number, 0) for one in asked},
        }
        closed = QuestionsClosed(put=tuple(map(self._redact, put)))
        note = Note(
            artifacts=(Artifact.of(QUESTIONS, QUESTIONS, body),),
            posts=(Post(key=f"{KEY}/closed", message=closed, target=KEY),),
        )
        await self.store.journal.note(self.lease, self.debate.id, note)
        self._ring()
        return put

    async def _asked(self) -> tuple[AudienceQuestion, ...]:
        """Return what was asked; what has a word that was blocked since counts as removed."""
        debate = self.debate
        settings = await self.store.communities.get(debate.platform, debate.community)
        return tuple(
            one.model_copy(update={"removed": "manager"})
            if has_blocked(settings.blocked_words, one.text)
            else one
            for one in await self.store.guests.questions(debate.id)
        )

    def _list(self, asked: Sequence[AudienceQuestion]) -> QuestionsInvite:
        standing = standing_questions(asked)
        listed = standing[:MOST_LISTED]
        return QuestionsInvite(
            code=self.debate.code,
            minutes=self.debate.request.questions,
            listed=tuple((one.number, self._redact(one.text)) for one in listed),
            more=len(standing) - len(listed),
        )

    def _redact(self, text: str) -> str:
        """Return a question as people may read it: it may name a model that debates."""
        return identity.redact(text, identity.names_of(self.debate.setup))

    async def _post(self, post: Post) -> None:
        await self.store.outbox.publish(self.lease, self.debate.id, [post])
        self._ring()

    def _ring(self) -> None:
        self.notifier.publish(f"outbox/{self.debate.platform}", self.debate.id)


# What the audience asks the sides of a debate, from a form or a keyboard to the store.


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
