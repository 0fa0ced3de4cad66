"""A page that shows a debate as Slack shows it: `… -m tests.pages.slack_thread PAGE`.

A whole debate is held on the double; the page is made of what the double recorded, in the way of
Slack's own client. It is for looking at, and for the picture in docs/slack.md.
"""

import html
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path

from adapters.slack.render import NAMES
from tests.doubles.hall import made_in
from tests.doubles.slack import Rules, SlackServer
from tests.doubles.slack.state import Json, Message
from tests.pages.chat_markdown import TOPICS, columns, picture, to_html, write_page
from tests.pages.discord_thread import LOCALES, SHORT, VOTES
from tests.scenario.discord_stage import OPTIONS, until
from tests.scenario.slack_stage import SlackStage, ended, voting

STYLE = Path(__file__).with_name("slack_thread.css")
EMOJIS = {NAMES[option]: emoji for option, emoji in OPTIONS.items()}
DATE = re.compile(r"<!date\^\d+\^\{time\}\|(\d+:\d+) UTC>")


async def hold(folder: Path, language: str) -> SlackServer:
    """Hold a debate from its command to its reveal, of people who speak its language."""
    url = await made_in(folder)
    async with SlackServer(rules=Rules.generous()) as slack:
        for name in VOTES.keys() - slack.users.keys():
            slack.add_user(name)
        stage = SlackStage(url, slack, settings={"classic": SHORT})
        async with stage.process() as app:
            slack.world.user("ada").locale = LOCALES[language]
            await stage.start(f'"{TOPICS[language]}" language={language}')
            await voting(app)
            ballot = await until(lambda: _ballot(stage), 20)
            for name, option in VOTES.items():
                await slack.react(name, ballot.ts, NAMES[option])
            await (await slack.slash("olga", "/debate close")).said()
            await ended(app)
            await until(lambda: "🏁" in stage.root.text)
    return slack


def _ballot(stage: SlackStage) -> Message | None:
    return next((m for m in stage.replies if len(m.reactions) == len(OPTIONS)), None)


class Page:
    """The channel and the debate's thread, side by side."""

    def __init__(self, slack: SlackServer) -> None:
        self._slack = slack
        self._root = slack.messages()[0]

    def html(self) -> str:
        name, replies = self._slack.channel.name, self._slack.replies(self._root.ts)
        channel = (self._message(self._root, len(replies)), self._answer())
        return columns(
            "A debate in Slack",
            STYLE,
            (f"# {name}", channel, "channel"),
            (f"Thread <small># {name}</small>", map(self._message, replies), "thread"),
        )

    def _answer(self) -> str:
        asked = next(asked for asked in self._slack.interactions.all if asked.messages)
        said = "\n".join(map(self._message, asked.messages))
        return f"<div class=private><small>👁 Only visible to you</small>{said}</div>"

    def _message(self, message: Message, replies: int = 0) -> str:
        posted = datetime.fromtimestamp(float(message.ts), UTC)
        below = f"<p class=below><a>{replies} replies</a></p>" if replies else ""
        return "\n".join(
            (
                "<article><img alt='' class=face><div class=body>",
                f"<p class=who>{message.username or 'Rostrum'} <b>APP</b> "
                f"<time>{posted:%H:%M}</time></p>",
                *map(_block, message.blocks),
                *map(self._picture, message.files),
                *_reactions(message),
                f"{below}</div></article>",
            )
        )

    def _picture(self, name: str) -> str:
        file = self._slack.world.files[name]
        return picture(file.data, file.alt)


def _block(block: Json) -> str:
    match block["type"]:
        case "markdown":
            return to_html(html.unescape(block["text"])).replace("<div>---</div>", "<hr>")
        case "section":
            said = DATE.sub(r"\1", block["text"]["text"])
            return f"<div class=state>{to_html(html.unescape(said))}</div>"
        case "actions":
            return "".join(map(_button, block["elements"]))
    return "".join(f"<p class=line>{element['text']}</p>" for element in block["elements"])


def _button(button: Json) -> str:
    danger = " danger" if button.get("style") == "danger" else ""
    return f"<span class='button{danger}'>{html.escape(button['text']['text'])}</span>"


def _reactions(message: Message) -> Iterator[str]:
    for name, held in filter(itemgetter(1), message.reactions.items()):
        yield f"<span class=reaction>{EMOJIS[name]} {len(held)}</span>"


if __name__ == "__main__":
    write_page("Slack", hold, lambda slack: Page(slack).html())
