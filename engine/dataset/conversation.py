"""Debates as chat messages, for trainers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from engine.dataset.entry import Entry, ExportedTurn

Messages: TypeAlias = list[dict[str, str]]

STANDS = {"A": "for it", "B": "against it"}
ANY_STAND = "for or against it"
OWN_STAND = "for this: {stance}"
ANY_OWN_STAND = "for one of these: {stances}"


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
        return OWN_STAND.format(stance=own) if own else ANY_OWN_STAND.format(stances=stances)
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
