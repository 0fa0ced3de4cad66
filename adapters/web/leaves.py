"""Pages for reading as HTML: a list, a debate, its calls; the same served and in a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from adapters.web.links import Links
from adapters.web.writing import write
from engine.delivery.interruption import INTERRUPTED
from engine.formats import FORMATS
from engine.pages.debate import CallPage, CallsPage, DebatePage, ListPage, state_of
from engine.values.debate import Status
from engine.values.text import SIDES, marked
from engine.words.phrases import money
from engine.words.translation import day, moment, number, say

STATES: Mapping[str, str] = {
    Status.QUEUED: "waiting to begin",
    Status.RUNNING: "running",
    INTERRUPTED: "interrupted",
    Status.VOTING: "people vote",
    Status.CLOSED: "decided",
    Status.PARTIAL: "ended at its cap",
    Status.CANCELLED: "stopped",
    Status.FAILED: "failed",
}
WORDS = {"day": day, "moment": moment, "number": number, "money": money, "marked": marked}


def write_list(page: ListPage, links: Links, language: str) -> str:
    """Return a page of a list."""
    values = {"states": STATES, "states_shown": _states, "formats": tuple(FORMATS), "pairs": _pairs}
    values["state_of"] = state_of
    return _write("list.html.jinja", language, links, page=page, **values)


def write_debate(
    shown: DebatePage, links: Links, template: str = "debate.html.jinja", **frame: object
) -> str:
    """Return a part of a debate's page, in the debate's language; `frame` is for a template."""
    values = {"shown": shown, "page": shown.page, "item": shown.item, "states": STATES}
    values["sides"] = SIDES
    return _write(template, shown.page.language, links, **values, **frame)


def write_calls(page: CallsPage, links: Links) -> str:
    """Return a page of a debate's calls."""
    return _write("calls.html.jinja", page.item.language, links, page=page)


def write_call(page: CallPage, links: Links) -> str:
    """Return a call with its prompt and its reply."""
    return _write("call.html.jinja", page.item.language, links, page=page)


def _states() -> list[tuple[str, str]]:
    """Return each state with its words in the language spoken."""
    return [(str(state), say(told)) for state, told in STATES.items()]


def _pairs(values: Iterable[str]) -> list[tuple[str, str]]:
    return [(value, value) for value in values]


def _write(name: str, language: str, links: Links, **values: object) -> str:
    return write(name, language, asset=links.asset, links=links, **WORDS, **values)
