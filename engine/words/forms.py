"""Forms that buttons open: their fields and words. Platforms draw them and return the answers."""

from __future__ import annotations

from typing import NamedTuple

from engine.values.language import N_, NN_
from engine.words.buttons import ButtonAction
from engine.words.card import PREFIX
from engine.words.translation import plural, say

ASK_SEND = N_("Ask")
REMOVE_SEND = N_("Remove")
WRITE_WITHIN = NN_("Sent at once; at most {n} word", "Sent at once; at most {n} words")
WRITE_SEND = N_("Send")
SURE_HINT = N_("How likely most others choose as you did, such as 70")
SURE_SEND = N_("Store")
CANCEL = N_("Cancel")
LONGEST_TURN = 4000  # characters, as many as Discord takes; Slack takes fewer
LONGEST_TYPED = 1000  # characters; what is too long is answered with how long it may be


class Field(NamedTuple):
    """A text field of a form: its label, what stands in it while it is empty, its most characters.

    `long` fields have several lines.
    """

    name: str
    label: str
    hint: str
    most: int
    long: bool = False


class Form(NamedTuple):
    """A form and its id, which says like a button's what is done with it."""

    id: str
    title: str
    send: str
    cancel: str
    fields: tuple[Field, ...]


def opens_form(pressed: ButtonAction) -> bool:
    """Return whether a button opens a form."""
    return pressed.what in ("ask", "unask", "write", "sure")


def form_of(pressed: ButtonAction) -> Form:
    """Return the form that a button opens, in the language spoken."""
    form_id = f"{PREFIX}:{pressed.what}:{pressed.of}"
    if pressed.what == "ask":
        asks = Field(
            "text",
            say("Your question"),
            say("One question, in a sentence or two"),
            LONGEST_TYPED,
            long=True,
        )
        return Form(form_id, say("Ask both sides"), say(ASK_SEND), say(CANCEL), (asks,))
    if pressed.what == "write":
        # 0: as many as wanted.
        words = pressed.of.rpartition(".")[2]
        most = int(words) if words.isdecimal() else 0
        hint = plural(*WRITE_WITHIN, most) if most else say("Sent at once, as it is")
        turn = Field("text", say("Your turn"), hint, LONGEST_TURN, long=True)
        return Form(form_id, say("Write your turn"), say(WRITE_SEND), say(CANCEL), (turn,))
    if pressed.what == "sure":
        sure = Field("percent", say("From 0 to 100 %"), say(SURE_HINT), 10)
        return Form(form_id, say("How sure are you?"), say(SURE_SEND), say(CANCEL), (sure,))
    number = Field("number", say("Its number"), say("Your own, or any if you manage this place"), 4)
    return Form(form_id, say("Remove a question"), say(REMOVE_SEND), say(CANCEL), (number,))
