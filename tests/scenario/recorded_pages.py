"""Pages of the debates that are held alike each time: an operator's, everyone's, and for labels.

One of each kind is told line by line, the others by a digest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import patch

import orjson
from pydantic import SecretStr

from adapters.pictures.png import drawn
from adapters.site import Site
from adapters.web.application import furnish
from adapters.web.links import write_folder
from adapters.web.public import PublicPages
from bot.research.labelling import label_routes, print_token
from bot.settings.sections import WebSettings
from bot.settings.settings import Settings
from engine.dataset.page import read_page, write_html, write_markdown
from engine.labelling.labelling import Labelling
from engine.pages.public import PublicReader
from engine.pages.stored import StoredLibrary
from engine.store import Store
from engine.store.communities import CommunitySettings, PublicPart
from engine.store.labelling import Terms
from engine.values.ports import Clock, Permalinks
from tests.scenario.test_label_pages import Browser, Shown, answer

URL = "http://127.0.0.1:1"
ACCOUNTS = {"discord_client_id": "7", "discord_client_secret": SecretStr("7")}
FAILED = f"{8:023d}-"
TERMS = Terms(name="tea", each=2, repeats=0, about="Thank you.", code="TEA-42")
COLUMNS = re.compile(r"\n(?:\| `|  +- name: |  +dtype: ).*")  # which docs/dataset.md has too
DRAWN_ANEW = re.compile(  # keys and tokens; ids of debates have 26 characters
    r"(?<=\?k=)[\w.-]+|(?<=link:)[\w-]{16}|(?<=/c/)\w{20}"
    r"|(?<![\w-])(?!rehearsal)[\w-]{22}(?:[\w-]{21})?(?![\w-])"
)


async def read_pages(store: Store, clock: Clock, out: Path) -> dict[str, list[str]]:
    """Return the lines of a page of each kind, and of the others a digest.

    `out` has an export, whose documents are told too.
    """
    told, kinds = dict[str, list[str]](), {"debates/croissant.json"}

    def keep(path: str, text: str) -> None:
        kind = re.sub(r"01j\d+|\d+", "…", path)
        if kind in kinds and path.startswith("debates/"):
            told[path] = [hashlib.sha256(text.encode()).hexdigest()[:16]]
        else:
            told[path] = text.split("\n")
        kinds.add(kind)

    card = (out / "README.md").read_text("utf-8")
    keep("README.md", COLUMNS.sub("", card))
    metadata = orjson.loads((out / "croissant.json").read_bytes())
    del metadata["distribution"]  # sizes and hashes of files, which have what a machine takes
    keep("debates/croissant.json", orjson.dumps(metadata).decode())
    for debate in (await store.debates.recent())[-2:]:
        report = await read_page(store, debate)
        keep(f"report {debate.id}.md", write_markdown(report))
        keep(f"report {debate.id}.html", write_html(report))
    async for path, body in write_folder(StoredLibrary(store)):
        # What was asked side by side has no order, but in a debate that failed at its start.
        if not path.startswith("static") and ("-call" not in path or FAILED in path):
            keep(path, body.decode())
    everything = CommunitySettings(public=tuple(PublicPart))
    await store.communities.change("memory", "club", lambda _: everything, clock.now())
    settings = Settings(web=WebSettings.model_validate({"url": URL, "port": 0} | ACCOUNTS))
    public = PublicPages(PublicReader(store, clock, "0"), Permalinks(URL), drawn)
    routes = [*public.routes(), *await label_routes(store, clock, settings)]
    site = Site("127.0.0.1", 0)
    async with site.serving(routes, furnish):
        assert site.address is not None
        browser = Browser("http://{}:{}".format(*site.address))
        async for name, page in _walk(store, clock, browser):
            keep(name, DRAWN_ANEW.sub("…", page.text))
        await browser.client.close()
        public.end()
    return told


async def _walk(store: Store, clock: Clock, browser: Browser) -> AsyncIterator[tuple[str, Shown]]:
    """Yield each kind of page that is served."""
    debates = sorted(debate.id.lower() for debate in await store.debates.recent())
    for debate in debates[:2]:
        yield f"public debate {debate}", (page := await browser.get(f"/d/{debate}"))
    (front, *_) = re.findall(r'href="(/c/[\w-]+)', page.text)
    for part in PublicPart:
        yield f"public {part}", await browser.get(f"{front}/{part}")
    yield "nothing", await browser.get("/nowhere")
    yield "manager, signed out", await browser.get("/labels")
    offered = await browser.get(f"/labels/enter?k={await print_token(store, clock)}")
    yield "manager, by a link", offered
    yield "manager", await browser.post("/labels/enter", **offered.fields)
    labelling = Labelling(store, clock)
    with patch("secrets.token_hex", lambda size: "seed"):
        await labelling.create(TERMS)
    (token,) = await labelling.invite("tea")
    yield "invitation", (invited := await browser.get(f"/label/tea?t={token}"))
    with patch("secrets.randbelow", lambda sides: 0):
        sheet = await browser.post("/label/tea/join", **invited.fields)
        while "/sheet/" in sheet.path:
            yield "sheet", sheet
            yield "sheet, without an answer", await browser.post(sheet.path, **sheet.fields)
            sheet = await browser.post(sheet.path, **answer(sheet))
    yield "done", sheet
    yield "back", await browser.get("/label/tea/back?p=x")
    yield "task", await browser.get("/labels/task/tea")
    yield "left", await browser.post("/label/tea/leave", **sheet.fields)
    yield "uninvited", await browser.get("/label/tea")
