"""What `review` answers in a chat, as canonical Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from engine.answers.answers import ReviewAnswer, RevisedAnswer
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


def review_lines(answer: ReviewAnswer, prefix: str, link: Callable[[str], str]) -> Iterator[str]:
    """List the debates that are offered; `link` returns a thread as the chat shows a link to it."""
    if not answer.lines:
        yield NOTHING_TO_REVIEW
        return
    yield REVIEW.format(prefix=prefix, code=answer.lines[0].debate.code)
    for line in answer.lines:
        template = REVIEW_WHY if line.why else REVIEW_ONE
        yield template.format(
            code=line.debate.code,
            thread=link(line.debate.thread or line.debate.place),
            topic=headline(line.debate.topic, TOPIC_LENGTH),
            options=", ".join(line.options),
            why=WHYS[line.why] if line.why else "",
        )
    yield REVIEW_APART


def revised_lines(answer: RevisedAnswer) -> Iterator[str]:
    """Say what became of an answer."""
    if answer.option is None:
        yield REVISED_BACK.format(code=answer.debate.code)
        return
    option = option_name(answer.option)
    yield REVISED.format(code=answer.debate.code, option=option)
    yield REVIEW_APART
