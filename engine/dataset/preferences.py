"""The tables for preference trainers: pairs of cases, and single turns with a label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from math import log
from typing import NamedTuple, TypeAlias

from engine.dataset.columns import (
    DEBATE,
    FLAG,
    MESSAGES,
    REAL,
    REPLACED,
    SPLIT,
    STEP,
    TEXT,
    WHOLE,
    Column,
    Table,
    list_of,
)
from engine.dataset.entry import Entry, ExportedTurn
from engine.values.debate import Turn
from engine.values.language import N_
from engine.values.text import split_draft
from engine.values.verdicts import TIE

# Debates as chat messages, for trainers.


Messages: TypeAlias = list[dict[str, str]]

STANDS = {"A": N_("for it"), "B": N_("against it")}
ANY_STAND = "for or against it"


def message(role: str, content: str) -> dict[str, str]:
    """Return one message of a chat."""
    return {"content": content, "role": role}


def describe_task(entry: Entry, side: str = "") -> str:
    """Return a side's task (or any side's): topic, conditions, language and stance."""
    stand = stand_of(entry, side)
    lines = [f"Topic: {entry.topic}"]
    if entry.conditions:
        lines.append(f"Conditions: {entry.conditions}")
    lines.append(f"Language: {entry.debate.request.language}")
    return "\n".join([*lines, "", f"Make the most convincing case, {stand}."])


def answers_a_question(entry: Entry) -> bool:
    """Tell whether agents answered a question, instead of two sides debating a motion."""
    return entry.debate.request.sides.keys() != STANDS.keys()


def ask_question(entry: Entry) -> str:
    """Return a question as it was asked, with its conditions."""
    return f"{entry.topic}\n\n{entry.conditions}" if entry.conditions else entry.topic


def stand_of(entry: Entry, side: str) -> str:
    """Return a side's stance: its own, else for or against if there are only those two."""
    if entry.stances:
        stances = " / ".join(entry.stances.values())
        own = entry.stances.get(side)
        return f"for this: {own}" if own else f"for one of these: {stances}"
    both = set(entry.debate.request.sides) == STANDS.keys()
    return STANDS.get(side, ANY_STAND) if both else ANY_STAND


def write_case(entry: Entry, side: str) -> str:
    """Return a side's own turns in order, each headed by its round."""
    own = (speech for speech in entry.speeches if speech.turn.side == side)
    return "\n\n".join(f"## {speech.turn.round}\n\n{speech.text}" for speech in own)


def make_conversation(
    entry: Entry, side: str, speeches: Iterable[ExportedTurn], other: str | None = None
) -> Messages:
    """Return speeches as a side's chat: its own by the assistant, the others' by the user.

    With `other`, only that side's. Successive messages of one role are joined.
    """
    messages = [message("user", describe_task(entry, side))]
    for speech in speeches:
        if speech.turn.side == side:
            _say(messages, "assistant", speech.text)
        elif other in (None, speech.turn.side):
            _say(messages, "user", speech.text)
    return messages


def _say(messages: Messages, role: str, text: str) -> None:
    last = messages[-1]
    if last["role"] == role:
        last["content"] += f"\n\n{text}"
    else:
        messages.append(message(role, text))


class _Draft(NamedTuple):
    """What an agent wrote in a round before its final answer."""

    round: str
    text: str


class _Case(NamedTuple):
    """A side's text in a debate: all its turns, or an agent's final answer to a question."""

    entry: Entry
    side: str

    @property
    def flaws(self) -> str | None:
        """The flaws of the turns that make the text; None for none."""
        said = self._own[-1:] if answers_a_question(self.entry) else self._own
        found = dict.fromkeys(flaw for speech in said for flaw in speech.turn.flaws)
        return ", ".join(found) or None

    @property
    def fit(self) -> bool:
        """Whether it may be in a pair."""
        return bool(self._own) and (self.entry.flawed or self.flaws is None)

    @property
    def messages(self) -> Messages:
        """The text, as one message."""
        return [message("assistant", self.text)]

    @property
    def text(self) -> str:
        """The text."""
        if not answers_a_question(self.entry):
            return write_case(self.entry, self.side)
        final = self._own[-1]
        return final.text if len(self._own) == 1 else split_draft(final.text)[0]

    @property
    def drafts(self) -> list[_Draft] | None:
        """What came before a final answer; None in a debate between two sides."""
        if not answers_a_question(self.entry):
            return None
        return [_Draft(speech.turn.round, speech.text) for speech in self._own[:-1]]

    @property
    def _own(self) -> list[ExportedTurn]:
        return [speech for speech in self.entry.speeches if speech.turn.side == self.side]


class _Pair(NamedTuple):
    """Two cases for the same task, with the gold votes for each."""

    task: str
    chosen: _Case
    rejected: _Case
    more: int
    fewer: int
    source: str = "chat"

    @property
    def margin(self) -> float:
        """The log-odds of the votes, with half a vote added to each to avoid infinities."""
        return log((self.more + 0.5) / (self.fewer + 0.5))


class _Liked(NamedTuple):
    """A turn with more thumbs of one kind than of the other before the reveal."""

    prompt: Messages
    turn: Turn
    text: str
    thumbs_up: int
    thumbs_down: int


def _pairs(entry: Entry) -> Iterator[_Pair]:
    """Yield the human winner's case beside that of each other contender.

    Both must have spoken, without flaws unless these are asked for. Of answers to a question the
    best is paired with the weakest alone.
    """
    source, tally = entry.decided or ("", None)
    if tally is None or tally.winner in (None, TIE) or entry.person:
        return
    winner = tally.winner
    fit = [side for side in entry.debate.request.sides if _Case(entry, side).fit]
    if winner not in fit:
        return
    others = [side for side in fit if side != winner]
    if answers_a_question(entry):
        chances = entry.record.verdict.p if entry.record.verdict else {}
        gold = tally.gold  # of equals the one that the panel ranks last
        others.sort(key=lambda side: (gold.get(side, 0), chances.get(side, 0.0), side))
        others = others[:1]
        task = ask_question(entry)
    else:
        task = describe_task(entry)
    for side in others:
        chosen, rejected = _Case(entry, winner), _Case(entry, side)
        yield _Pair(task, chosen, rejected, tally.gold[winner], tally.gold[side], source)


def _same_side_pairs(entry: Entry) -> Iterator[_Pair]:
    """Yield, for each side of a mirrored pair, both models' cases for that side.

    The better model has more gold votes in both debates together: each argued both sides, so the
    sides' advantages cancel out.
    """
    other = entry.mirror
    if other is None or entry.tally is None or other.tally is None:
        return
    if entry.replaced is not None:
        return  # with a replaced model it is unclear which models are compared
    ahead = entry.tally.gold["A"] + other.tally.gold["B"]
    behind = entry.tally.gold["B"] + other.tally.gold["A"]
    if ahead == behind:
        return
    for side in STANDS:
        # The model that argued A here argued B there.
        chosen, rejected = (entry, other) if (side == "A") == (ahead > behind) else (other, entry)
        cases = _Case(chosen, side), _Case(rejected, side)
        if all(case.fit for case in cases):
            yield _Pair(describe_task(entry, side), *cases, max(ahead, behind), min(ahead, behind))


def _liked(entry: Entry) -> Iterator[_Liked]:
    if entry.person:
        return
    given = Counter((label.step, label.up) for label in entry.record.labels if label.blind)
    for number, (turn, text) in enumerate(entry.speeches):
        ups, downs = given[turn.step, True], given[turn.step, False]
        if ups != downs and (entry.flawed or not turn.flaws):
            messages = make_conversation(entry, turn.side, entry.speeches[:number])
            hint = f"It is your turn: {turn.round}."
            if messages[-1]["role"] == "user":
                messages[-1]["content"] += f"\n\n{hint}"
            else:
                messages.append(message("user", hint))
            yield _Liked(messages, turn, text, ups, downs)


_MARGIN = "ln((n + ½)/(m + ½)), n and m being gold votes for the chosen and for the rejected"
_FLAWS = "`cut_off`, `refusal` and other flaws"
_CASES: tuple[Column[_Pair], ...] = (
    Column("prompt", MESSAGES, "one message, the user's: topic, conditions, language, task; or a "
           "question as it was asked",
           lambda pair: [message("user", pair.task)]),
    Column("chosen", MESSAGES, "one message: the better side's turns, headed by round; or the "
           "best final answer to a question",
           "chosen.messages", "model"),
    Column("rejected", MESSAGES, "one message: the other side's turns, or the weakest answer",
           "rejected.messages", "model"),
    Column("chosen_flaws", TEXT, f"{_FLAWS} of the turns in `chosen`; null for none",
           "chosen.flaws"),
    Column("rejected_flaws", TEXT, f"{_FLAWS} of the turns in `rejected`; null for none",
           "rejected.flaws"),
)  # fmt: skip
_DRAFTS: tuple[Column[_Draft], ...] = (
    Column("round", TEXT, "its round"),
    Column("text", TEXT, "the draft with what its author says of the changes; mentions removed",
           maker="model"),
)  # fmt: skip
PREFERENCE = Table(
    "preference",
    "the human winner's case with another contender's",
    _pairs,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        *_CASES,
        Column("margin", REAL, f"{_MARGIN} side", maker="people", unit="log-odds"),
        Column("chosen_side", TEXT, "the side that won by gold votes", "chosen.side", "people"),
        Column("rejected_side", TEXT, "the side that it is compared with", "rejected.side"),
        Column(
            "labels",
            TEXT,
            "whose gold votes: `chat`, or `web` for labels given on pages (`--labels`)",
            "source",
        ),
        list_of(
            "chosen_drafts",
            _DRAFTS,
            "what came before the best final answer; null in a debate between two sides",
            lambda pair: pair.chosen.drafts,
        ),
        list_of(
            "rejected_drafts",
            _DRAFTS,
            "what came before the weakest one; null in a debate between two sides",
            lambda pair: pair.rejected.drafts,
        ),
    ),
)
SAME_SIDE = Table(
    "preference_same_side",
    "a side of two mirrored debates: both models' cases for it",
    _same_side_pairs,
    (
        Column("debate_id", TEXT, "the ULID of the debate with `chosen`",
               "chosen.entry.debate.id"),
        SPLIT,
        REPLACED,
        *_CASES,
        Column("margin", REAL, f"{_MARGIN} model in both debates",
               maker="people", unit="log-odds"),
        Column("side", TEXT, "the side that both texts argue: `A` for the topic, `B` against it",
               "chosen.side"),
        Column("rejected_debate_id", TEXT, "the ULID of the debate with `rejected`",
               "rejected.entry.debate.id"),
    ),
)  # fmt: skip
UNPAIRED = Table(
    "unpaired",
    "a turn that people gave thumbs before the reveal",
    _liked,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("prompt", MESSAGES, "the debate so far; the side's own turns as `assistant`"),
        Column("completion", MESSAGES, "one message: the turn",
               lambda liked: [message("assistant", liked.text)], "model"),
        Column("label", FLAG, "whether more thumbs were up than down before the reveal",
               lambda liked: liked.thumbs_up > liked.thumbs_down, "people"),
        STEP._replace(value="turn.step"),
        Column("thumbs_up", WHOLE, "thumbs up before the reveal", maker="people", unit="people"),
        Column("thumbs_down", WHOLE, "thumbs down before the reveal",
               maker="people", unit="people"),
        Column("flaws", TEXT, f"{_FLAWS} of the turn; null for none",
               lambda liked: ", ".join(liked.turn.flaws) or None),
    ),
)  # fmt: skip
