"""Pages as a folder that opens from a disk, and that any host can serve."""

from __future__ import annotations

from collections.abc import AsyncIterator

from adapters.web.assets import assets
from adapters.web.leaves import write_call, write_calls, write_debate, write_list
from adapters.web.links import Filed
from engine.pages.debate import DebatePage, Item, Library
from engine.store.listings import Sought
from engine.values.language import ENGLISH

TOP, INSIDE = Filed(), Filed("../")
LEFT_OUT = (".js",)  # nothing of a folder grows


async def write_folder(library: Library) -> AsyncIterator[tuple[str, bytes]]:
    """Yield each file of the folder: its path and what it holds."""
    for name, asset in sorted(assets().items()):
        if not name.endswith(LEFT_OUT):
            yield TOP.asset(name), asset.body
    number, pages = 1, 1
    while number <= pages:
        page = await library.find(Sought(), number)
        pages = page.pages
        yield TOP.list(number=number), write_list(page, TOP, ENGLISH).encode()
        for item in page.items:
            async for file in _debate(library, item):
                yield file
        number += 1


async def _debate(library: Library, item: Item) -> AsyncIterator[tuple[str, bytes]]:
    part, parts = 1, 1
    while part <= parts:
        shown = await library.debate(item.id, part)
        parts = shown.parts
        yield TOP.debate(item, part), write_debate(shown, INSIDE).encode()
        async for file in _beside(library, shown):
            yield file
        part += 1
    async for file in _calls(library, item):
        yield file


async def _beside(library: Library, shown: DebatePage) -> AsyncIterator[tuple[str, bytes]]:
    """Yield the pictures of a page, and the turns that it only begins."""
    item = shown.item
    for section in shown.sections:
        if section.picture:
            picture = await library.picture(item.id, section.picture)
            yield TOP.picture(item, section.picture), picture.svg.encode()
    for number in sorted(shown.longer):
        yield TOP.turn(item, number), (await library.turn_text(item.id, number)).encode()


async def _calls(library: Library, item: Item) -> AsyncIterator[tuple[str, bytes]]:
    number, pages = 1, 1
    while number <= pages:
        page = await library.calls(item.id, number)
        pages = page.pages
        if not page.total:
            return
        yield TOP.calls(item, number), write_calls(page, INSIDE).encode()
        for call in page.tries if page.kept else ():
            told = await library.call(item.id, call.number)
            yield TOP.call(item, call.number), write_call(told, INSIDE).encode()
        number += 1
