"""One stage over Discord's and Slack's, for what people meet alike on both."""

from typing import Any, NamedTuple, TypeAlias

from bot.app import App
from engine.values.debate import Debate
from tests.doubles.discord import Code, Interaction, denied
from tests.doubles.discord.state import Message as DiscordMessage
from tests.doubles.facts import Slack
from tests.doubles.faults import Fault
from tests.doubles.slack import Asked, refused
from tests.doubles.slack.state import Message as SlackMessage
from tests.kit import until
from tests.scenario import discord_stage, slack_stage
from tests.scenario.discord_stage import DiscordStage, author
from tests.scenario.slack_stage import SlackStage, title

TOPIC = "Tea beats coffee"
NOBODY = {"A": 0, "B": 0, "tie": 0, "weak": 0}
TYPED = (
    *("topic", "language", "format", "rounds", "ballot", "mirror", "model_a", "model_b"),
    *("round_votes", "confidence"),
)
EMOJIS = {
    "up": ("👍", "+1"),
    "down": ("👎", "-1"),
    "A": ("🔵", "large_blue_circle"),
    "B": ("🔴", "red_circle"),
}
EMOJIS |= {"letter A": ("🅰️", "a"), "letter B": ("🅱️", "b")}
EMOJIS |= {"tie": ("🤝", "handshake"), "4": ("4️⃣", "four")}
EMOJIS |= {"even": ("⚖️", "scales"), "close": ("🔍", "mag"), "onesided": ("💥", "boom")}


class File(NamedTuple):
    """A file as people see it."""

    name: str
    data: bytes
    alt: str | None


class Shown(NamedTuple):
    """A message of the newest thread, with the line above it."""

    id: str
    title: str
    text: str
    plain: bool
    files: int
    reactions: list[str]


class Private(NamedTuple):
    """An answer that one person sees, and its buttons by their ids."""

    text: str
    buttons: dict[str, str]
    message: Any


class OnDiscord:
    """Debates on Discord. Messages are given by their ids, reactions as `EMOJIS` names them."""

    title = "Discord"

    def __init__(self, stage: DiscordStage) -> None:
        self.stage, self.discord, self.faults = stage, stage.discord, stage.discord.faults

    def user(self, name: str) -> str:
        return f"<@{self.discord.users[name].id}>"

    def mention(self, name: str) -> str:
        return self.user(name)

    def write(self, user: str, text: str) -> str:
        """Write into the newest thread, mentioning the bot; return the message."""
        bot = f"<@{self.discord.world.bot.id}> " if text else ""
        return self.discord.say(user, f"{bot}{text}", self.stage.thread.id).id

    def rewrite(self, user: str, message: str, text: str) -> None:
        self.discord.rewrite(user, message, f"<@{self.discord.world.bot.id}> {text}")

    def pings(self, message: str) -> set[str]:
        ids = self.discord.world.find_message(message).pings
        return {name for name, user in self.discord.users.items() if user.id in ids}

    async def start(self, user: str = "ada", **options: Any) -> str:
        """Start a debate with options as chats name them; return the answer."""
        more = " ".join(f"{k}={v}" for k, v in options.items() if k not in TYPED)
        typed = {name: value for name, value in options.items() if name in TYPED}
        asked = await self.stage.start(user, **typed, **({"more": more} if more else {}))
        assert asked.ephemeral
        return asked.text

    async def ballot(self) -> str:
        return (await self.stage.ballot()).id

    async def ended(self, app: App) -> Debate:
        return await discord_stage.ended(app)

    async def ask(self, user: str, command: str, expected: str = "", **options: Any) -> str:
        """Give a command; return the answer, which only this person sees and holds `expected`."""
        asked = await self.discord.slash(user, f"debate {command}", options).finished()
        assert asked.ephemeral
        assert expected in asked.text, asked.text
        return asked.text

    async def give(self, user: str, command: str, **options: Any) -> Private:
        """Give a command; return the answer, which only this person sees."""
        return _private(await self.discord.slash(user, f"debate {command}", options).finished())

    async def press(self, user: str, below: Private, button: str) -> Private:
        return _private(await self.discord.press(user, below.message, button).finished())

    def buttons(self, message: str) -> dict[str, str]:
        rows = self.discord.world.find_message(message).components
        return {one["label"]: one["custom_id"] for row in rows for one in row["components"]}

    async def push(self, user: str, message: str, label: str) -> str:
        button = self.buttons(message)[label]
        return _private(await self.discord.press(user, message, button).finished()).text

    async def fill(self, user: str, message: str, label: str, **typed: str) -> str:
        """Fill in the form that a message's button opens; return the answer."""
        asked = self.discord.press(user, message, self.buttons(message)[label])
        await until(lambda: asked.modal)
        return _private(await self.discord.submit_modal(asked, typed).finished()).text

    @property
    def announcement(self) -> str:
        """The newest announcement; empty while there is none."""
        return next((message.id for message in self.discord.messages()[-1:]), "")

    def sent(self) -> list[str]:
        """Return all that was sent to the platform, but for answers that one person sees."""
        return [one.text for one in self.discord.sent if "/webhooks/" not in one.path]

    def answers_to(self, user: str) -> list[str]:
        person = self.discord.users[user].id
        return [one.text for one in self.discord.interactions.all if one.user_id == person]

    async def react(self, user: str, message: str, what: str) -> None:
        self.discord.react(user, message, EMOJIS[what][0])

    async def unreact(self, user: str, message: str, what: str) -> None:
        self.discord.unreact(user, message, EMOJIS[what][0])

    def delete(self, message: str) -> None:
        self.discord.delete_message(message)

    def held(self, ballot: str) -> dict[str, int]:
        held = {o: self.discord.holders(ballot, e) for o, e in discord_stage.OPTIONS.items()}
        return {option: len(users) for option, users in held.items()}

    def seeds(self, message: str) -> set[str]:
        kept, me = self.discord.world.find_message(message), self.discord.bot.id
        return {one.emoji for one in kept.reactions.values() if me in one.holders}

    @property
    def card(self) -> str:
        """The newest announcement, with everything in it."""
        message = self.discord.messages()[-1]
        return f"{message.text}\n{message.embeds}"

    def thread(self) -> list[Shown]:
        posted = self.discord.messages(self.stage.thread.id) if self.discord.threads() else []
        return [_on_discord(m) for m in posted]

    def files(self) -> list[File]:
        posted = self.discord.messages(self.stage.thread.id)
        return [File(f.filename, f.data, f.description) for m in posted for f in m.attachments]

    def fail_readings(self, fault: Fault) -> None:
        self.discord.fail(fault, "GET", "/channels/*/messages/*/reactions/*", times=-1)

    def forbid_readings(self, *, forbidden: bool) -> None:
        """Let the bot read no reactions, or again."""
        self.discord.faults.clear()
        if forbidden:
            denial = denied(Code.MISSING_PERMISSIONS)
            self.discord.fail(denial, "GET", "/channels/*/messages/*", times=-1)

    def refuse_posts(self, text: str, times: int = 1) -> None:
        """Refuse for good what contains a text."""
        self.fail_posts(text, denied(Code.INVALID_FORM), times)

    def fail_posts(self, text: str, fault: Fault, times: int = 1) -> None:
        self.discord.fail(fault, "POST", "/channels/*/messages", times=times, text=text)


class OnSlack:
    """Debates on Slack, given like those on Discord."""

    title = "Slack"

    def __init__(self, stage: SlackStage) -> None:
        self.stage, self.slack, self.faults = stage, stage.slack, stage.slack.faults

    def user(self, name: str) -> str:
        return self.slack.users[name].name

    def mention(self, name: str) -> str:
        return f"@{self.slack.users[name].name}"

    def write(self, user: str, text: str) -> str:
        return self.slack.say(user, text, thread=self.stage.root.ts).ts

    def rewrite(self, user: str, message: str, text: str) -> None:
        self.slack.rewrite(message, text)

    def pings(self, message: str) -> set[str]:
        ids = {ping.removeprefix("@") for ping in self.slack.world.find(message).pings}
        return {name for name, user in self.slack.users.items() if user.id in ids}

    async def start(self, user: str = "ada", **options: Any) -> str:
        line = f'"{options.pop("topic", TOPIC)}"{_written(options)}'
        return (await self.stage.start(line, user)).text

    async def ballot(self) -> str:
        return (await self.stage.ballot()).ts

    async def ended(self, app: App) -> Debate:
        return await slack_stage.ended(app)

    async def ask(self, user: str, command: str, expected: str = "", **options: Any) -> str:
        asked = await self.slack.slash(user, f"/debate {command}{_written(options)}")
        return await asked.said(expected)

    async def give(self, user: str, command: str, **options: Any) -> Private:
        typed = command + "".join(f' "{value}"' for value in options.values())
        return await _whispered(await self.slack.slash(user, f"/debate {typed}"))

    async def press(self, user: str, below: Private, button: str) -> Private:
        return await _whispered(await self.slack.choose(user, below.message, button))

    def buttons(self, message: str) -> dict[str, str]:
        shown = [b for block in self.slack.world.find(message).blocks for b in _elements(block)]
        return {one["text"]["text"]: one["action_id"] for one in shown if one["type"] == "button"}

    async def push(self, user: str, message: str, label: str) -> str:
        return await (await self.slack.press(user, message, label)).said()

    async def fill(self, user: str, message: str, label: str, **typed: str) -> str:
        asked = await self.slack.press(user, message, label)
        await until(lambda: asked.view)
        sent = await self.slack.submit(asked, typed)
        return "\n".join(sent.errors.values()) or await asked.said()

    @property
    def announcement(self) -> str:
        return self.stage.root.ts if self.slack.messages() else ""

    def sent(self) -> list[str]:
        private = ("response_url", "views.open")
        return [one.text for one in self.slack.sent if one.method not in private]

    def answers_to(self, user: str) -> list[str]:
        person = self.slack.users[user].id
        return [one.text for one in self.slack.interactions.all if one.user == person]

    async def react(self, user: str, message: str, what: str) -> None:
        await self.slack.react(user, message, EMOJIS[what][1])

    async def unreact(self, user: str, message: str, what: str) -> None:
        await self.slack.unreact(user, message, EMOJIS[what][1])

    def delete(self, message: str) -> None:
        self.slack.delete_message(message)

    def held(self, ballot: str) -> dict[str, int]:
        names = zip(NOBODY, slack_stage.OPTIONS, strict=True)
        return {option: len(self.slack.holders(ballot, name)) for option, name in names}

    def seeds(self, message: str) -> set[str]:
        kept, me = self.slack.world.find(message), self.slack.world.caller.bot_user
        return {name for name, users in kept.reactions.items() if me in users}

    @property
    def card(self) -> str:
        return f"{self.stage.root.text}\n{self.stage.root.blocks}"

    def thread(self) -> list[Shown]:
        posted = self.stage.replies if self.slack.messages() else []
        return [_on_slack(m) for m in posted]

    def files(self) -> list[File]:
        return [File(file.name, file.data, file.alt) for file in self.slack.world.files.values()]

    def fail_readings(self, fault: Fault) -> None:
        self.slack.fail(fault, "reactions.get", times=-1)

    def forbid_readings(self, *, forbidden: bool) -> None:
        kept = tuple(scope for scope in Slack.SCOPES if scope != "reactions:read")
        self.slack.rules.scopes = kept if forbidden else Slack.SCOPES

    def refuse_posts(self, text: str, times: int = 1) -> None:
        self.fail_posts(text, refused("invalid_blocks"), times)

    def fail_posts(self, text: str, fault: Fault, times: int = 1) -> None:
        self.slack.fail(fault, "chat.postMessage", times=times, text=text)


def _elements(block: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in block.get("elements", ()) if "action_id" in one]


def _private(asked: Interaction) -> Private:
    assert asked.ephemeral
    shown = [one for row in asked.messages[0].components for one in row["components"]]
    labels = {one["custom_id"]: one.get("label", "") for one in shown}
    return Private(asked.text, labels, asked.messages[0])


async def _whispered(asked: Asked) -> Private:
    await until(lambda: asked.messages or None)
    last = asked.messages[-1]
    shown = [one for block in last.blocks for one in block.get("elements", ())]
    labels = {one["action_id"]: one["text"]["text"] for one in shown if one["type"] == "button"}
    return Private("\n".join(one.text for one in asked.messages), labels, last)


def _on_discord(m: DiscordMessage) -> Shown:
    return Shown(m.id, author(m), m.text, not m.embeds, len(m.attachments), list(m.reactions))


def _on_slack(m: SlackMessage) -> Shown:
    held = [name for name, users in m.reactions.items() if users]
    return Shown(m.ts, title(m), m.text, not m.blocks, len(m.files), held)


def _written(options: dict[str, Any]) -> str:
    """Return options as a line of text has them; a debate and a vote are named by their places."""
    said = []
    for name, value in options.items():
        given = ("off", "on")[value] if isinstance(value, bool) else value
        short = {"model_a": "a=", "model_b": "b=", "debate": "", "vote": ""}.get(name, f"{name}=")
        said.append(f" {short}{given}")
    return "".join(said)


Chat: TypeAlias = OnDiscord | OnSlack


async def vote(chat: Chat, **options: Any) -> str:
    """Start a debate, and wait until people can vote; return the message they vote on."""
    await chat.start(**options)
    return await chat.ballot()


async def close(chat: Chat, user: str = "olga") -> str:
    return (await chat.stage.close(user)).text


async def said(chat: Chat, what: str) -> Shown:
    """Wait for a message of the thread with such a line above it; return it."""
    await chat.stage.said(what, 20)
    return next(message for message in chat.thread() if message.title == what)
