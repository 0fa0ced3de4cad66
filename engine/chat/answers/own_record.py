"""Answer to `me`; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from engine.chat.answers.answers import Answer, Wording
from engine.chat.answers.record_picture import Share, Shown, record_picture
from engine.store import Guessed, OwnVote
from engine.values.debate import Value
from engine.values.messages import File
from engine.values.text import headline
from engine.words.phrases import option_name
from engine.words.translation import plural, say

TOPIC_LENGTH = 80  # characters

NO_VOTES = (
    "You have no vote on a revealed debate here yet. Vote below a debate, and look again after its "
    "vote closes."
)
YOUR_VOTES = (
    "**Your votes:** {n} revealed debate here",
    "**Your votes:** {n} revealed debates here",
)
WITH_PEOPLE = "- You chose as the people did: {share}"
WITH_JURY = "- You chose as the jury did: {share}"
GUESSED = "- Models you guessed right: {share} (by chance about {chance:.1f})"
AS_PEOPLE = "As the people did"
AS_JURY = "As the jury did"
RIGHT_GUESSES = "Models guessed right"
NAMED = (
    "`{prefix} leaderboard` names you among those who guess models; `{prefix} me scoreboard=off` "
    "undoes it."
)
UNNAMED = (
    "`{prefix} me scoreboard=on` names you in `{prefix} leaderboard` among those who guess models."
)
LAST = "**Your last votes**"
LINE = "- {thread} {topic}: you {own}, people {people}, jury {jury}"
NO_ONE = "–"


class OwnVoteLine(Value):
    """A vote with its debate; `stances` name what people chose among."""

    vote: OwnVote
    code: str
    topic: str
    place: str
    stances: Mapping[str, str] = {}


class OwnRecordAnswer(Answer):
    """A person's votes here: how often with the people, how often with the jury, and the last."""

    private: ClassVar[bool] = True
    votes: int
    guessed: Guessed = Guessed()
    named: bool = False
    changed: bool = False
    people: Share
    jury: Share
    lines: tuple[OwnVoteLine, ...]

    def say(self, chat: Wording) -> Iterator[str]:
        """Compare, then list the last votes."""
        if self.changed:
            yield self._standing(chat)
        if not self.votes:
            yield say(NO_VOTES)
            return
        yield plural(YOUR_VOTES, self.votes)
        yield say(WITH_PEOPLE, share=self.people.say())
        yield say(WITH_JURY, share=self.jury.say())
        if self.guessed.n:
            share = Share(self.guessed.right, self.guessed.n)
            yield say(GUESSED, share=share.say(), chance=self.guessed.chance)
            if not self.changed:
                yield self._standing(chat)
        yield say(LAST)
        for line in self.lines:
            yield say(
                LINE,
                thread=chat.link(line.place),
                topic=headline(line.topic, TOPIC_LENGTH),
                own=_option(line.vote.option, line.stances),
                people=_option(line.vote.people, line.stances),
                jury=_option(line.vote.jury, line.stances),
            )

    def picture(self) -> File | None:
        """Return how often they chose as others did, and guessed right."""
        if not self.votes:
            return None
        shares = [
            Shown(say(AS_PEOPLE), self.people, None),
            Shown(say(AS_JURY), self.jury, None),
        ]
        if self.guessed.n:
            right = Share(self.guessed.right, self.guessed.n)
            shares.append(Shown(say(RIGHT_GUESSES), right, self.guessed.chance))
        return record_picture(plural(YOUR_VOTES, self.votes), shares)

    def _standing(self, chat: Wording) -> str:
        return say(NAMED if self.named else UNNAMED, prefix=chat.prefix)


def _option(option: str | None, stances: Mapping[str, str]) -> str:
    """Return a choice in a few words; a dash for none."""
    return headline(option_name(option, stances), 40) if option else NO_ONE
