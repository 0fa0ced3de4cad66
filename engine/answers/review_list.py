"""What `review` answers in a chat, as canonical Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from engine.answers.answers import Answer, Wording
from engine.answers.debates import DebateLine
from engine.debate import Value
from engine.text import headline
from engine.votes.offers import Why
from engine.words.phrases import option_name

TOPIC_LENGTH = 100  # characters

REVIEW = (
    "**Who debated better?** These revealed debates want more answers. Read one, then choose "
    "below, or by its code: `{prefix} review {code} A`."
)
REVIEW_ONE = "- `{code}` {thread}: {topic} ({options})"
REVIEW_WHY = "- `{code}` {thread}: {topic} ({options}; {why})"
WHYS: Mapping[Why, str] = {
    "differ": "people and jury differ",
    "close": "the jury found it close",
    "drawn": "drawn at random today",
}
REVIEW_APART = (
    "You may know by now who debated and what others said, so these answers are kept apart: they "
    "change no result, are never gold, and show in exports as given after the reveal."
)
NOTHING_TO_REVIEW = (
    "No revealed debate wants an answer of yours: none was held here yet, or you have answered all."
)
REVISED = "Your answer on debate `{code}` is kept: {option}."
REVISED_BACK = "Your answer on debate `{code}` is taken back."


class ReviewLine(Value):
    """A revealed debate to answer by one of `options`, and why; None: it was asked for."""

    debate: DebateLine
    options: tuple[str, ...]
    why: Why | None = None


class ReviewAnswer(Answer):
    """The revealed debates that want more answers; none that whoever asks has answered."""

    private: ClassVar[bool] = True
    lines: tuple[ReviewLine, ...]

    def say(self, chat: Wording) -> Iterator[str]:
        """List the debates that are offered."""
        if not self.lines:
            yield NOTHING_TO_REVIEW
            return
        yield REVIEW.format(prefix=chat.prefix, code=self.lines[0].debate.code)
        for line in self.lines:
            template = REVIEW_WHY if line.why else REVIEW_ONE
            yield template.format(
                code=line.debate.code,
                thread=chat.link(line.debate.thread or line.debate.place),
                topic=headline(line.debate.topic, TOPIC_LENGTH),
                options=", ".join(line.options),
                why=WHYS[line.why] if line.why else "",
            )
        yield REVIEW_APART


class RevisedAnswer(Answer):
    """What somebody answered after the reveal is kept; None: it was taken back."""

    private: ClassVar[bool] = True
    debate: DebateLine
    option: str | None

    def say(self, chat: Wording) -> Iterator[str]:
        """Say what became of an self."""
        if self.option is None:
            yield REVISED_BACK.format(code=self.debate.code)
            return
        option = option_name(self.option)
        yield REVISED.format(code=self.debate.code, option=option)
        yield REVIEW_APART
