"""Where pages are: addresses of a server, or files of a folder that link to one another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from urllib.parse import urlencode

from adapters.web.assets import address_of
from engine.pages.debate import Item, write_sought
from engine.store.listings import Sought


class Links(ABC):
    """The addresses of pages, as templates ask for them."""

    live = False
    filters = False
    policy = ""  # of a page that no server sends headers with

    @abstractmethod
    def asset(self, name: str) -> str:
        """Return where a style sheet or script is."""

    @abstractmethod
    def list(self, sought: Sought | None = None, number: int = 1) -> str:
        """Return where a page of a list is."""

    @abstractmethod
    def debate(self, item: Item, part: int = 1) -> str:
        """Return where a part of a debate is."""

    @abstractmethod
    def calls(self, item: Item, number: int = 1) -> str:
        """Return where a page of a debate's calls is."""

    @abstractmethod
    def call(self, item: Item, number: int) -> str:
        """Return where a call is."""

    @abstractmethod
    def picture(self, item: Item, name: str) -> str:
        """Return where a picture is."""

    @abstractmethod
    def turn(self, item: Item, number: int) -> str:
        """Return where a turn's whole text is."""


class Served(Links):
    """Addresses of a running server; `live` pages grow, those of a folder do not."""

    filters = True

    def __init__(self, *, live: bool) -> None:
        self.live = live

    def asset(self, name: str) -> str:
        return address_of(name)

    def list(self, sought: Sought | None = None, number: int = 1) -> str:
        given = write_sought(sought) if sought else {}
        if number > 1:
            given["page"] = str(number)
        return f"/?{urlencode(given)}" if given else "/"

    def debate(self, item: Item, part: int = 1) -> str:
        return f"/debates/{item.id.lower()}" + (f"?part={part}" if part > 1 else "")

    def events(self, item: Item) -> str:
        """Return what tells that a debate's page has grown."""
        return f"/debates/{item.id.lower()}/events"

    def calls(self, item: Item, number: int = 1) -> str:
        return f"/debates/{item.id.lower()}/calls" + (f"?page={number}" if number > 1 else "")

    def call(self, item: Item, number: int) -> str:
        return f"/debates/{item.id.lower()}/calls/{number}"

    def picture(self, item: Item, name: str) -> str:
        return f"/debates/{item.id.lower()}/{name}.svg"

    def turn(self, item: Item, number: int) -> str:
        return f"/debates/{item.id.lower()}/turn-{number}.txt"


class Public(Served):
    """Addresses of debates that everyone may read."""

    filters = False

    def debate(self, item: Item, part: int = 1) -> str:
        return f"{self._of(item)}?part={part}" if part > 1 else self._of(item)

    def events(self, item: Item) -> str:
        return f"{self._of(item)}/events"

    def picture(self, item: Item, name: str) -> str:
        return f"{self._of(item)}/{name}.svg"

    def turn(self, item: Item, number: int) -> str:
        return f"{self._of(item)}/turn-{number}.txt"

    def _of(self, item: Item) -> str:
        return f"/d/{item.id.lower()}"


class Filed(Links):
    """Files of a folder, linked from one in its top (`up` is empty) or in a folder (`../`)."""

    policy = "default-src 'none'; style-src 'self' file:; img-src 'self' file:; base-uri 'none'"

    def __init__(self, up: str = "") -> None:
        self._up = up

    def asset(self, name: str) -> str:
        return f"{self._up}static/{name}"

    def list(self, sought: Sought | None = None, number: int = 1) -> str:
        return f"{self._up}{'index' if number == 1 else f'list-{number}'}.html"

    def debate(self, item: Item, part: int = 1) -> str:
        return self._of(item, f"-{part}.html" if part > 1 else ".html")

    def calls(self, item: Item, number: int = 1) -> str:
        return self._of(item, f"-calls-{number}.html" if number > 1 else "-calls.html")

    def call(self, item: Item, number: int) -> str:
        return self._of(item, f"-call-{number}.html")

    def picture(self, item: Item, name: str) -> str:
        return self._of(item, f"-{name}.svg")

    def turn(self, item: Item, number: int) -> str:
        return self._of(item, f"-turn-{number}.txt")

    def _of(self, item: Item, rest: str) -> str:
        return f"{self._up}debates/{item.id.lower()}{rest}"
