"""Answers about leagues; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Iterator

from engine.chat.answers.answers import Answer, Wording
from engine.values.messages import LeagueTable
from engine.words.league import league_lines, league_title
from engine.words.translation import plural, say, say_stored

STARTED = (
    "The league begins with {n} model and {matches} matches.",
    "The league begins with {n} models and {matches} matches.",
)
FIRST = "First match: {time}. The standing is posted here after each reveal."
AT_ONCE = "The first match begins now. The standing is posted here after each reveal."
STOP = "The league ends; a match that is going on is finished first."
WAITING = "⏳ The next match cannot begin yet: {problem}"


class LeagueStartedAnswer(Answer):
    """A league was started; `first` is when its first match begins, empty for at once."""

    models: int
    matches: int
    first: str = ""

    def say(self, chat: Wording) -> Iterator[str]:
        """Say how large it is, and when it begins."""
        yield plural(STARTED, self.models, matches=self.matches)
        yield say(FIRST, time=self.first) if self.first else say(AT_ONCE)


class LeagueAnswer(Answer):
    """The standing of a league, and what keeps its next match from beginning."""

    table: LeagueTable
    problem: str = ""

    def say(self, chat: Wording) -> Iterator[str]:
        """Show the standing."""
        yield f"**{league_title(self.table)}**"
        yield from league_lines(self.table)
        if self.problem:
            yield say(WAITING, problem=say_stored(self.problem))


class LeagueStoppedAnswer(Answer):
    """A league was asked to end."""

    def say(self, chat: Wording) -> Iterator[str]:
        """Say so."""
        yield say(STOP)
