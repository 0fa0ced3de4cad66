"""The time in which the audience may ask both sides something, before they close.

Questions come in at whichever process has the platform's connection, and are read here from the
store. What is put to the sides is stored once, with how people supported it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.blinding.identity import names_of, redact
from engine.fleet.leases import LeaseManager, Notifier
from engine.store import Lease, Note, Post, Store
from engine.store.targets import AudienceQuestion
from engine.values.debate import Debate
from engine.values.messages import QuestionsClosed, QuestionsInvite
from engine.values.topics import has_blocked
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
        return redact(text, names_of(self.debate.setup))

    async def _post(self, post: Post) -> None:
        await self.store.outbox.publish(self.lease, self.debate.id, [post])
        self._ring()

    def _ring(self) -> None:
        self.notifier.publish(f"outbox/{self.debate.platform}", self.debate.id)
