"""Buttons and menus of a chat, which work after any restart: what one does is all in its id."""

from __future__ import annotations

from typing import NamedTuple

from engine.words.phrases import option_name

PREFIX = "rostrum"
STOP = "Stop"
STATUS = "Status"
WITHDRAW = "Take my vote back"


class Button(NamedTuple):
    """A button; one that votes has the `option` that it stands for."""

    id: str
    label: str
    option: str = ""
    danger: bool = False


class Pressed(NamedTuple):
    """What a button or menu asks for, and `of` which debate or option."""

    what: str
    of: str


def debate_buttons(code: str, *, stoppable: bool) -> tuple[Button, ...]:
    """Return the buttons of a debate's announcement."""
    status = Button(f"{PREFIX}:status:{code}", STATUS)
    return (Button(f"{PREFIX}:stop:{code}", STOP, danger=True), status) if stoppable else (status,)


def ballot_buttons(options: tuple[str, ...]) -> tuple[Button, ...]:
    """Return a button for each option, then the one that takes a vote back."""
    named = (Button(f"{PREFIX}:vote:{option}", option_name(option), option) for option in options)
    return (*named, Button(f"{PREFIX}:withdraw", WITHDRAW))


def review_menu(code: str) -> str:
    """Return the id of the menu that answers on a revealed debate."""
    return f"{PREFIX}:review:{code}"


def read_button(button_id: str) -> Pressed | None:
    """Read the id of a button or menu, None for one that no version of Rostrum knows."""
    match button_id.split(":"):
        case [prefix, ("stop" | "status" | "vote" | "review") as what, of] if (
            prefix == PREFIX and of
        ):
            return Pressed(what, of)
        case [prefix, "withdraw"] if prefix == PREFIX:
            return Pressed("withdraw", "")
    return None
