"""A page that shows a debate as Discord shows it: `… -m tests.pages.discord_thread PAGE`.

A whole debate is held on the double; the page is made of what the double recorded, in the way of
Discord's own client. It is for looking at, and for the picture in docs/discord.md.
"""

import html
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests.doubles.discord import DiscordServer, Rates
from tests.doubles.discord.state import Json, Message
from tests.doubles.hall import made_in
from tests.pages.chat_markdown import TOPICS, columns, picture, to_html, write_page
from tests.scenario.discord_stage import OPTIONS, DiscordStage, ended, until, voting

LOCALES = {"en": "en-US", "de": "de", "es": "es-ES", "tr": "tr", "zh": "zh-CN"}
# Short turns, so that a whole debate fits in one picture.
SHORT = {"words": 85, "arguments": 2}
VOTES = {"ada": "A", "ben": "A", "cleo": "B", "dan": "A", "eve": "tie", "fay": "B", "gus": "A"}
FACES = {"🔵": "#3b82f6", "🔴": "#ef4444"}  # in place of Discord's own pictures
STYLE = Path(__file__).with_name("discord_thread.css")


async def hold(folder: Path, language: str) -> DiscordServer:
    """Hold a debate from its command to its reveal, of people who speak its language."""
    url = await made_in(folder)
    async with DiscordServer(rates=Rates.generous()) as discord:
        discord.allow("manage_webhooks")
        for name in VOTES.keys() - discord.users.keys():
            discord.add_user(name)
        stage = DiscordStage(url, discord, settings={"classic": SHORT})
        async with stage.process() as app:
            asked = {"topic": TOPICS[language], "language": language}
            await discord.slash("ada", "debate start", asked, locale=LOCALES[language]).finished()
            await voting(app)
            ballot = await until(lambda: _ballot(discord), 20)
            for name, option in VOTES.items():
                discord.react(name, ballot.id, OPTIONS[option])
            await discord.slash("olga", "debate close", channel=stage.thread.id).finished()
            await ended(app)
            await until(lambda: "🏁" in discord.messages()[0].text)
    return discord


def _ballot(discord: DiscordServer) -> Message | None:
    thread = discord.messages(discord.threads()[0].id)
    return next((m for m in thread if len(m.reactions) == len(OPTIONS)), None)


class Page:
    """The channel and the debate's thread, side by side."""

    def __init__(self, discord: DiscordServer) -> None:
        self._discord = discord
        self._thread = discord.threads()[0]

    def html(self) -> str:
        channel, thread = self._discord.channel, self._thread
        held = (self._message(message) for message in self._discord.messages(thread.id))
        announced = (self._message(message) for message in self._discord.messages(channel.id))
        return columns(
            html.escape(thread.name),
            STYLE,
            (f"# {html.escape(channel.name)}", (*announced, self._answer()), "channel"),
            (html.escape(thread.name), held, "thread"),
        )

    def _answer(self) -> str:
        asked = next(a for a in self._discord.interactions.all if a.answer and a.ephemeral)
        assert asked.answer is not None
        who = self._discord.world.user(asked.user_id).name
        return (
            f"<div class=private><small>{who} used <a>{asked.name}</a></small>"
            f"{self._message(asked.answer)}<small>👁 Only you can see this</small></div>"
        )

    def _message(self, message: Message) -> str:
        posted = datetime.fromtimestamp(message.created, UTC)
        return "\n".join(
            (
                f"<article>{self._face(message)}<div class=body>",
                f"<p class=who>{html.escape(message.username or 'Rostrum')} <b>APP</b> "
                f"<time>{posted:%H:%M}</time></p>",
                *map(self._embed, message.embeds),
                *(picture(file.data, file.description or "") for file in message.attachments),
                *self._reactions(message),
                *self._buttons(message),
                self._below(message),
                "</div></article>",
            )
        )

    def _face(self, message: Message) -> str:
        colour = FACES.get(message.username[:1], "#5865f2")
        return f"<img alt='' class=face style='background: {colour}'>"

    def _embed(self, embed: Json) -> str:
        fields = "".join(
            f"<h4>{html.escape(field['name'])}</h4>{self._text(field['value'])}"
            for field in embed.get("fields", ())
        )
        author = html.escape(embed.get("author", {}).get("name", ""))
        footer = html.escape(embed.get("footer", {}).get("text", ""))
        colour = embed.get("color") or 0x1E1F22
        return (
            f"<div class=embed style='border-color:#{colour:06x}'><h3>{author}</h3>"
            f"{self._text(embed['description'])}{fields}<footer>{footer}</footer></div>"
        )

    def _reactions(self, message: Message) -> Iterator[str]:
        for reaction in message.reactions.values():
            yield f"<span class=reaction>{reaction.emoji} {len(reaction.holders)}</span>"

    def _buttons(self, message: Message) -> Iterator[str]:
        for row in message.components:
            for button in row["components"]:
                danger = " danger" if button["style"] == 4 else ""
                yield f"<span class='button{danger}'>{html.escape(button['label'])}</span>"

    def _below(self, message: Message) -> str:
        if message.id != self._thread.id:
            return ""
        count = len(self._discord.messages(self._thread.id))
        name = html.escape(self._thread.name)
        return f"<p class=below><b>{name}</b> <a>{count} Messages ›</a></p>"

    def _text(self, text: str) -> str:
        return to_html(text, lambda id: self._discord.world.channel(id).name)


if __name__ == "__main__":
    write_page("Discord", hold, lambda discord: Page(discord).html())
