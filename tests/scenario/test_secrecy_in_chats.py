"""No byte that Discord or Slack gets before the reveal names a model or a juror: by canaries."""

from collections.abc import Iterable

import orjson
import pytest
from structlog.testing import capture_logs

from tests.scenario.chat_stage import Chat, OnDiscord, close
from tests.scenario.discord_stage import voting

CANARIES = ("canarymaple", "canarywillow", "canaryoak", "canaryelm", "canaryash")
SETTINGS = {
    "models": ", ".join(f"rehearsal/{name}" for name in CANARIES[:2]),
    "jurors": ", ".join(f"rehearsal/{name}" for name in CANARIES[2:]),
}
NAMELESS = {b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"}  # chunks of a PNG that say nothing


@pytest.mark.parametrize("held", ["classic", "audited", "refused name"])
async def test_nothing_that_is_sent_before_the_reveal_names_a_model(
    chat: Chat, held: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither names and faces of sides, nor files, nor alt texts, nor what a preview would show."""
    chat.stage.settings = SETTINGS
    if isinstance(chat, OnDiscord):
        chat.discord.allow("manage_webhooks")
    if held == "refused name":
        monkeypatch.setattr("engine.run.plan.draw_names", lambda *_: {"A": "Clyde", "B": "Pip"})
    options = {"format": "audited"} if held == "audited" else {"round_votes": True}
    with capture_logs() as logs:
        async with chat.stage.process() as app:
            await chat.start(**options)
            debate = await voting(app)
            await chat.ballot()
            before = everything(chat)
            logged = orjson.dumps(logs, default=str)
            await close(chat)
            await chat.ended(app)
    assert debate.setup.names["A"].encode() in before
    for canary in CANARIES:
        assert canary.encode() not in before.lower(), canary
        assert canary.encode() not in logged.lower(), canary
    after = everything(chat).removeprefix(before)
    assert CANARIES[0].encode() in after
    pictures = [file.data for file in chat.files() if file.data.startswith(b"\x89PNG")]
    assert all(set(chunks(picture)) <= NAMELESS for picture in pictures)
    assert previewed(chat) == []


def everything(chat: Chat) -> bytes:
    """Return what was sent so far: requests, names and faces, and files with their alt texts."""
    world = chat.discord.world if isinstance(chat, OnDiscord) else chat.slack.world
    sent = chat.discord.sent if isinstance(chat, OnDiscord) else chat.slack.api.sent
    kept = [one.data for one in (chat.files() if chat.thread() else ())]
    told = [one.text.encode() for one in sent]
    hooks = [repr(hook).encode() for hook in getattr(world, "webhooks", {}).values()]
    return b"\n".join((*told, *hooks, *kept))


def previewed(chat: Chat) -> list[str]:
    """Return what was posted with an address that its readers would be shown a preview of."""
    if isinstance(chat, OnDiscord):
        posted = [m for place in chat.discord.world.messages.values() for m in place.values()]
        return [
            m.content for m in posted if "://" in m.content and m.author_id == chat.discord.bot.id
        ]
    posts = [s.text for s in chat.slack.api.sent if s.method == "chat.postMessage"]
    return [text for text in posts if '"unfurl_links": false' not in text]


def chunks(png: bytes) -> Iterable[bytes]:
    """Return the kinds of a picture's chunks; texts about it would be in some of others."""
    at = 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4])
        yield png[at + 4 : at + 8]
        at += length + 12
