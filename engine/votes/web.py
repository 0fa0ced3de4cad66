"""Labels given on pages, as votes of the platform `web`, beside those that people cast in chat.

They answer questions of their own, so no count of a chat's vote has them. The only definition of
which of them are gold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from engine.store.labelling import Drawn, Filled
from engine.tally.questions import DOWN, UP
from engine.tally.tally import Standing, count
from engine.values.judging import LABELS, WEB, Question, Tally, Vote
from engine.votes.outcome import WORDS_A_MINUTE

QUORUM = 3  # gold labels for a winner by labels


def platform_of(question: str, platform: str) -> str:
    """Return where an answer was given, of a debate on a platform."""
    return WEB if question in LABELS else platform


def is_fast(seconds: float, words: int) -> bool:
    """Return whether these seconds are too few to have read that many words."""
    return timedelta(seconds=seconds) < timedelta(minutes=words / WORDS_A_MINUTE)


def votes_of(drawn: Drawn, filled: Filled, now: datetime) -> Iterator[Vote]:
    """Yield what a sheet's answer is stored as: the label, then its thumbs.

    Nothing of a test or a second showing. A label is gold unless its person may have seen the
    models or the result by then: they read the debate blind, without others' votes, and nobody who
    took part in its chat is given it.
    """
    if drawn.kind != "plain":
        return
    label = Vote(
        person=drawn.person,
        option=filled.option,
        ambiguous=False,
        gold=not drawn.exposed,
        reason="known" if drawn.exposed else "",
        starter=False,
        judge_visible=False,
        late_seen=False,
        tally_visible=False,
        votes_seen_before=0,
        changes=filled.changes,
        first_at=drawn.answered_at or now,
        last_at=now,
        question=Question.LABEL,
        fast=filled.fast,
        confidence=filled.confidence,
        ground=filled.ground,
        order=drawn.order,
        seconds=filled.seconds,
        comment=filled.comment,
        task=drawn.task,
    )
    yield label
    said = {"confidence": "", "ground": "", "comment": "", "question": Question.LABEL_TURN}
    for step, up in sorted(filled.thumbs.items()):
        yield label.model_copy(update={**said, "step": step, "option": UP if up else DOWN})


def tally_labels(labels: Iterable[Standing], contenders: tuple[str, ...]) -> Tally:
    """Count the labels of a debate."""
    return count(labels, contenders, QUORUM)
