"""The invitation to vote: what was debated, each side's case in a line, and where to read it.

Cases are taken from what each side said last, so they cost no call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import regex

from engine.blinding.identity import redact
from engine.formats.format import Format
from engine.jury.explain import names_hidden
from engine.store import Post
from engine.tally.questions import CONFIDENCES, STANCES, round_options, vote_options
from engine.values.debate import ConfidenceScale, Debate, Turn
from engine.values.messages import ConfidenceInvite, RoundInvite, StanceInvite, VoteInvite
from engine.values.text import (
    clean,
    headline,
    is_divided,
    is_visible,
    redact as without_mentions,
    split_closing,
    whole_sentences,
)

# After each round: the question of who is ahead, which no turn waits for.


class Rounds:
    """Notes where a running debate stands, and what to ask when another round begins."""

    def __init__(self, debate: Debate, script: Format) -> None:
        self._debate, self._script = debate, script
        self._spoken = ""
        self._asked: set[str] = set()

    def spoken(self, turn: Turn) -> None:
        """Note a finished turn."""
        self._spoken = self._script.round_of(turn.round)

    def before(self, step: str) -> Post | None:
        """Return the question about the round that is over when a step begins, once."""
        kind, *rest = step.split("/")
        over = self._spoken
        if not self._debate.request.round_votes or kind != "turn" or not over:
            return None
        if over in self._asked or self._script.round_of(rest[0]) == over:
            return None
        self._asked.add(over)
        return ask_after(self._debate, over)


def ask_after(debate: Debate, round_name: str) -> Post:
    """Return the question of who is ahead after a round."""
    request = debate.request
    invite = RoundInvite(
        round=round_name,
        options=round_options(tuple(request.sides)),
        ballot=request.ballot,
        stances=request.stances,
        names=debate.setup.called,
    )
    return Post(key=f"round/{round_name}", message=invite)


CASE, CASE_OF_MANY = 180, 110  # characters of a side's case, of two sides and of more
TOPIC = 300  # characters
_FENCED = regex.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[^\n]*$|\Z)", regex.M | regex.S)
_LEFT_OUT = regex.compile(r"^[ \t]*(?:\#{1,6}[ \t].*|\|.*|[-*_=]{3,}[ \t]*)$", regex.M)
_MARKER = regex.compile(r"^[ \t]*(?:>[ \t]?|[-*+][ \t]+|\(?\d{1,3}[.)][ \t]+)+", regex.M)
_HEAD = regex.compile(r"\A\*\*[^*\n]+\*\*\n\n")
_LINK = regex.compile(r"!?\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)")
_MARKUP = regex.compile(r"[*`~|<>\\]+|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])")


def invitation(debate: Debate, turns: Sequence[Turn], judged: Sequence[Turn]) -> tuple[Post, ...]:
    """Return what people are asked once a debate is over; `judged` is what its jury reads."""
    request = debate.request
    percent = (
        request.confidence is ConfidenceScale.PERCENT
    )  # which is said in a form, beside the vote
    invite = VoteInvite(
        options=vote_options(tuple(request.sides)),
        minutes=request.vote_minutes,
        quorum=request.quorum,
        ballot=request.ballot,
        mirrored=debate.mirror is not None,
        stances=request.stances,
        names=debate.setup.called,
        topic=headline(request.topic, TOPIC),
        cases=cases_of(debate, judged),
        begins=turns[0].step if turns else "",
        code=debate.code if request.reasons or percent or debate.setup.menu else "",
        reasons=request.reasons,
        percent=percent,
        known=debate.setup.known,
        guest=request.guest,
        trial=request.trial is not None,
    )
    vote = Post(key="vote", message=invite)
    posts = [vote]
    if request.confidence and not percent:
        sure = ConfidenceInvite(options=CONFIDENCES, ballot=request.ballot)
        posts.append(Post(key="vote/confidence", message=sure))
    if request.stance:
        posts.append(ask_for_stance(debate, after=True))
    return tuple(posts)


def ask_for_stance(debate: Debate, *, after: bool) -> Post:
    """Return the question of what people think of the topic, before the debate or after it."""
    invite = StanceInvite(
        topic=debate.request.topic,
        after=after,
        options=STANCES,
        seconds=None if after else debate.request.stance_seconds,
        ballot=debate.request.ballot,
        stances=debate.request.stances,
    )
    return Post(key="stance/after" if after else "stance/before", message=invite)


def cases_of(debate: Debate, turns: Sequence[Turn]) -> Mapping[str, str]:
    """Return each side's case in a line, from its last turn; one without words is left out."""
    hidden, last = names_hidden(debate.setup), {turn.side: turn for turn in turns}
    sides = [side for side in debate.request.sides if side in last]
    most = CASE if len(debate.request.sides) == 2 else CASE_OF_MANY
    said = {side: ending_of(redact(last[side].text, hidden | {last[side].model})) for side in sides}
    heads = {match[0] if (match := _HEAD.match(text)) else "" for text in said.values()}
    if len(said) > 1 and len(heads) == 1:  # "Maintains its position", of all, tells them not apart
        said = {side: text.removeprefix(*heads) for side, text in said.items()}
    told = {side: case_of(text, most) for side, text in said.items()}
    return {side: text for side, text in told.items() if text}


def ending_of(text: str) -> str:
    """Return a turn's decision if it has one, else all of it."""
    return split_closing(text)[1] if is_divided(text) else text


def case_of(text: str, most: int) -> str:
    """Return a case in one line of plain text.

    An ellipsis marks what is shortened, which falls between sentences, else between words.
    """
    line = plain_line(text)
    if not is_visible(line):
        return ""
    told = whole_sentences(line, most).rstrip()
    return told if told == line or told.endswith("…") else f"{told} …"


def plain_line(text: str) -> str:
    """Return Markdown as one line without markup, mentions, code, tables and headings."""
    text = _LEFT_OUT.sub("", _FENCED.sub("", clean(text)))
    text = _LINK.sub(r"\1", _MARKER.sub("", without_mentions(text)))
    return " ".join(_MARKUP.sub("", text).split())
