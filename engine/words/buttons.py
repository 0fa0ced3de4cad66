"""Buttons, menus and forms of a chat. An id holds the whole action, so they survive restarts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.values.language import N_, NN_
from engine.values.text import headline
from engine.words.card import LABEL_LENGTH, PREFIX, SURE, Button
from engine.words.translation import plural, say

ASK = N_("Ask")
UNASK = N_("Remove")
DONE = N_("Done")
IN_PLACE = ("ground", "clear", "guess", "page")
REMATCH = N_("Rematch")
ACTIONS = (
    *("stop", "status", "vote", "review", "why", "details", "upvote", "approve", "remove"),
    *("delete", "delete_both"),
    *("ask", "unask", "write", "sure"),  # which open a form
    *("accept", "decline", "done"),
    *("remark", *IN_PLACE),
    *("rematch", "swap"),
)


class Menu(NamedTuple):
    """A menu; an option's value is its number, and `chosen` is the one that its person holds."""

    id: str
    hint: str
    labels: tuple[str, ...]
    chosen: int | None = None


Row = tuple[Button, ...] | Menu
"""What stands side by side: some buttons, or one menu."""


class ButtonAction(NamedTuple):
    """The action of a button or menu, and the debate, option or topic it applies to (`of`).

    Of one that opens a form, that is the debate's code and language, as in `k7f2qz.de`, and maybe
    a limit, as in `k7f2qz.de.500`.
    """

    what: str
    of: str

    @property
    def in_place(self) -> bool:
        """Whether its answer replaces the private message that it is on."""
        return self.what in IN_PLACE


def question_buttons(code: str, language: str, numbers: Sequence[int]) -> tuple[Button, ...]:
    """Return the buttons to ask a question, to support one by its number, and to remove one."""
    named = (Button(f"{PREFIX}:vote:{n}", say("👍 {number}", number=n)) for n in numbers)
    removes = (Button(f"{PREFIX}:unask:{code}.{language}", say(UNASK)),) if numbers else ()
    return (Button(f"{PREFIX}:ask:{code}.{language}", say(ASK)), *named, *removes)


def consent_buttons(code: str) -> tuple[Button, ...]:
    """Return the buttons with which a person agrees to argue a side, or does not."""
    return (
        Button(f"{PREFIX}:accept:{code}", say("Take part")),
        Button(f"{PREFIX}:decline:{code}", say("No, thanks")),
    )


def speak_buttons(code: str, language: str, words: int) -> tuple[Button, ...]:
    """Return the buttons to write a turn of at most `words`, and to end one written in a thread."""
    return (
        Button(f"{PREFIX}:write:{code}.{language}.{words}", say("Write your turn")),
        Button(f"{PREFIX}:done:{code}", say(DONE)),
    )


def again_buttons(code: str, *, two: bool) -> tuple[Button, ...]:
    """Return the buttons that hold a revealed debate once more; `two` sides can be swapped."""
    rematch = Button(f"{PREFIX}:rematch:{code}", say(REMATCH))
    return (rematch, Button(f"{PREFIX}:swap:{code}", say("Swap sides"))) if two else (rematch,)


def upvote_button(number: int, topic: str, upvotes: int) -> Button:
    """Return the button that wants a suggested topic debated, or no longer."""
    said = say("▲ {upvotes} · {topic}", upvotes=upvotes, topic=topic)
    return Button(f"{PREFIX}:upvote:{number}", headline(said, LABEL_LENGTH))


def approval_buttons(number: int) -> tuple[Button, ...]:
    """Return the buttons of managers for a topic that waits for them."""
    return (
        Button(f"{PREFIX}:approve:{number}", say("Approve {number}", number=number)),
        Button(f"{PREFIX}:remove:{number}", say("Remove {number}", number=number), danger=True),
    )


def deletion_buttons(code: str, *, both: bool) -> tuple[Button, ...]:
    """Return the buttons that confirm the deletion of a debate, and of its mirror."""
    one = Button(f"{PREFIX}:delete:{code}", say("Delete for good"), danger=True)
    more = Button(f"{PREFIX}:delete_both:{code}", say("Delete both"), danger=True)
    return (one, more) if both else (one,)


def sure_button(code: str, language: str, percent: str) -> Button:
    """Return the button with which a voter says in percent how sure they are."""
    label = say(N_("{percent} %: change it"), percent=percent) if percent else say(SURE)
    return Button(f"{PREFIX}:sure:{code}.{language}", label, chosen=bool(percent))


def remark_id(what: str, code: str, of: str) -> str:
    """Return the id of a button or menu for a remark on a debate."""
    return f"{PREFIX}:{what}:{code}/{of}"


def review_menu(code: str) -> str:
    """Return the id of the review menu of a revealed debate."""
    return f"{PREFIX}:review:{code}"


def read_button(button_id: str) -> ButtonAction | None:
    """Parse the id of a button or menu; None for an unknown one."""
    match button_id.split(":"):
        case [prefix, what, of] if prefix == PREFIX and what in ACTIONS and of:
            return ButtonAction(what, of)
        case [prefix, "withdraw"] if prefix == PREFIX:
            return ButtonAction("withdraw", "")
    return None


# Forms: platforms draw their fields and return the answers.


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
