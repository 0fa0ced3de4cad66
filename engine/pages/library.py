"""Where pages come from: the database of an installation, or the folder of an export."""

from __future__ import annotations

from typing import Protocol

from engine.pages.debate import CallPage, CallsPage, DebatePage, Picture
from engine.pages.items import Item, ListPage
from engine.store.listings import Sought


class Library(Protocol):
    """Debates as pages; every method may raise StoreError.

    A debate is named by its id or short code; those that name one raise NotFoundError.
    """

    async def find(self, sought: Sought, number: int) -> ListPage:
        """Return a page of a list, or its last one."""

    async def debate(self, name: str, part: int = 0, turn: int = 0) -> DebatePage:
        """Return a part of a debate: the one of a number, or with a turn; else the first."""

    async def place(self, name: str, turn: int) -> tuple[Item, int]:
        """Return a debate and the number of the part that has a turn."""

    async def calls(self, name: str, number: int = 1) -> CallsPage:
        """Return a page of a debate's calls; none while anything of it is sealed."""

    async def call(self, name: str, number: int) -> CallPage:
        """Return a call with what was asked and answered, by its place from 1."""

    async def picture(self, name: str, picture: str) -> Picture:
        """Return a picture of a debate's page."""

    async def turn_text(self, name: str, turn: int) -> str:
        """Return a turn's whole text, as voters read it."""

    async def pulse(self, name: str) -> str:
        """Return what changes whenever a debate's page grows or changes; cheap to ask often."""
