"""The double itself, listening on loopback, and what people do on it."""

import html
import json
from typing import Any

from aiohttp import web

from tests.doubles.faults import Fault, Faults
from tests.doubles.loopback import Clock, Listening
from tests.doubles.slack.deliveries import Deliveries, Socket
from tests.doubles.slack.methods import Methods, canonical, check_message, options_of
from tests.doubles.slack.state import (
    APP,
    BOT_USER,
    TEAM,
    Asked,
    Channel,
    File,
    Interactions,
    Json,
    Message,
    Refusal,
    Rules,
    User,
    World,
)
from tests.doubles.slack.web_api import Limiter, OAuth, Sent, WebApi, with_fault


def _label(element: Json) -> str:
    text = element.get("text")
    return str(text["text"]) if isinstance(text, dict) else ""


def _entered(element: Json, values: dict[str, Any]) -> Json:
    """Return a field's state as Slack sends it, with what was shown where nothing was entered."""
    kind, given = element["type"], values.get(element["action_id"])
    if kind == "plain_text_input":
        return {"type": kind, "value": given if given is not None else element.get("initial_value")}
    if kind == "file_input":
        return {"type": kind, "files": list(given or ())}
    if kind == "multi_conversations_select":
        shown = element.get("initial_conversations", [])
        return {"type": kind, "selected_conversations": shown if given is None else given}
    if kind == "users_select":
        return {"type": kind, "selected_user": given or element.get("initial_user")}
    options = options_of(element)
    if kind == "multi_static_select":
        chosen = [option for option in options if option["value"] in (given or ())]
        shown = element.get("initial_options", [])
        return {"type": kind, "selected_options": shown if given is None else chosen}
    found = next((option for option in options if option["value"] == given), None)
    return {"type": kind, "selected_option": found or element.get("initial_option")}


BOT_TOKEN, APP_TOKEN = "xoxb-a-token-for-the-double", "xapp-a-token-for-the-double"
SIGNING_SECRET = "0123456789abcdef0123456789abcdef"
PEOPLE = ("olga", "ada", "ben", "cleo")


class SlackServer(Listening):
    """Slack on loopback, with one workspace, one channel, its admin olga and three members.

    In people's acts users are named, and messages given by their ts.
    """

    def __init__(self, *, rules: Rules | None = None) -> None:
        self.clock = Clock()
        self.world = World(self.clock)
        self.world.caller.token = BOT_TOKEN
        self.rules = rules or Rules()
        self.sent: list[Sent] = []
        self.faults = Faults()
        self.signing_secret = SIGNING_SECRET
        self.socket = Socket(self._note)
        self.deliveries = Deliveries(self.world, self.rules, self.socket, SIGNING_SECRET)
        self.interactions = Interactions(self.world, self.rules)
        self.oauth = OAuth(self.world)
        self.file_statuses: list[int] = []  # of the next downloads
        self.limiter = Limiter(self.clock, self.rules)
        self.violations = self.limiter.violations  # a good client leaves them empty
        self.calls: list[str] = []  # the methods of the Web API, in order
        joined = (self.world, self.rules, self.socket, self.deliveries, self.interactions)
        self.methods = Methods(*joined, self.oauth, lambda: self.origin)
        limits = (self.limiter, self.faults)
        table = self.methods.table()
        self.api = WebApi(self.world, self.rules, *limits, table, self.sent, self.calls, APP_TOKEN)
        self.users = {name: self._new_user(name, admin=name == "olga") for name in PEOPLE}
        self.channel = self.add_channel("debates")

    @property
    def bot_token(self) -> str:
        """The bot's token; setting another revokes it."""
        return self.world.teams[TEAM].token

    @bot_token.setter
    def bot_token(self, token: str) -> None:
        self.world.teams[TEAM].token = token

    @property
    def app_token(self) -> str:
        """The app-level token; setting another revokes it."""
        return self.api.app_token

    @app_token.setter
    def app_token(self, token: str) -> None:
        self.api.app_token = token

    def add_user(self, name: str, *, bot: bool = False) -> User:
        """Let somebody join the workspace and its first channel; `bot` for another bot."""
        user = self._new_user(name, bot=bot)
        self.users[name] = user
        self.channel.members.add(user.id)
        return user

    def add_team(self, name: str) -> Channel:
        """Make another workspace, with an admin and a member; returns its channel.

        They are named after it: `bay-olga` and `bay-ada`. It has not installed the app.
        """
        number = len(self.world.teams) + 1
        team = self.world.add_team(f"T0{name.upper()}", name.title(), f"{BOT_USER}{number}")
        team.installed = False
        channel = Channel(self.world.new_id("C"), "lounge", team=team.id)
        for who in ("olga", "ada"):
            made = self._new_user(f"{name}-{who}", admin=who == "olga")
            made.team = team.id
            channel.members.add(made.id)
        channel.members.add(team.bot_user)
        self.world.channels[channel.id] = channel
        return channel

    def add_channel(self, name: str, *, private: bool = False, with_bot: bool = True) -> Channel:
        made = Channel(self.world.new_id("C"), name, private)
        made.members = {user.id for user in self.users.values()}
        made.members |= {BOT_USER} if with_bot else set()
        self.world.channels[made.id] = made
        return made

    @property
    def api_url(self) -> str:
        return f"{self.origin}/api"

    @property
    def pings(self) -> list[tuple[str, set[str]]]:
        """Every message that notifies somebody, by its ts."""
        every = (*self.world.everything(), *self.world.ephemeral)
        return [(message.ts, message.pings) for message in every if message.pings]

    def messages(self, channel: str | None = None) -> list[Message]:
        """Return the messages of a channel that are in no thread or begin one, oldest first."""
        inside = self._place(channel).messages.values()
        top = [m for m in inside if m.thread_ts in (None, m.ts) and not m.deleted]
        return sorted(top, key=lambda m: float(m.ts))

    def replies(self, root: str) -> list[Message]:
        every = self.world.everything()
        return [m for m in every if m.thread_ts == root != m.ts and not m.deleted]

    def holders(self, ts: str, name: str) -> set[str]:
        """Return the names of the people who hold an emoji, whatever its tone: no bots."""
        wanted, found = canonical(name), set()
        for held, users in self.world.find(ts).reactions.items():
            if held.split("::")[0] == wanted:
                found |= {self.world.user(user).name for user in users}
        return {name for name in found if not self.world.user(name).bot}

    def fail(
        self, fault: Fault, method: str = "**", *, times: int = 1, skip: int = 0, text: str = ""
    ) -> None:
        """Let a fault happen to the next calls of a method; `*` stands for any of its parts."""
        self.faults.plan(fault, "*", method, times=times, skip=skip, text=text)

    def app(self, app: web.Application | None = None) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20) if app is None else app
        app.router.add_route("*", "/api/{method}", self.api.answer)
        app.router.add_get("/socket", self.socket.connect)
        app.router.add_post("/response/{id}", self._respond)
        app.router.add_post("/upload/{id}", self._upload)
        app.router.add_get("/files-pri/{id}/download", self._download)
        return app

    def listens(self, authority: str) -> None:
        self.socket.url = f"ws://{authority}/socket"

    async def cut(self) -> None:
        await self.deliveries.stop()
        await self.socket.drop()

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        text = await request.text()
        self._note("response_url", json.dumps(json.loads(text), ensure_ascii=False))
        fault = self.faults.meet("POST", "response_url", text)

        async def carry() -> web.Response:
            return self._answer(request.match_info["id"], json.loads(text))

        return await with_fault(self.faults, request, fault, carry)

    def _answer(self, ref: str, said: Json) -> web.Response:
        try:
            asked = self.interactions.respond(ref)
            if asked.channel not in self.world.channels:
                raise Refusal("channel_not_found")
            text, blocks = said.get("text") or "", said.get("blocks") or []
            check_message(text, blocks, None)
        except Refusal as refusal:
            return web.json_response(refusal.body(), status=404)
        if said.get("replace_original") and asked.pressed is not None:
            asked.pressed.body, asked.pressed.blocks = text, blocks
            asked.messages.append(asked.pressed)
            return web.Response(text="ok")
        bot = self.world.team_of(asked.channel).bot_user
        shown = Message(asked.channel, self.world.new_ts(), bot, text, blocks, to=asked.user)
        if said.get("response_type") == "in_channel":
            shown.to = None
            self.world.channels[asked.channel].messages[shown.ts] = shown
        else:
            self.world.ephemeral.append(shown)
        asked.messages.append(shown)
        return web.Response(text="ok")

    async def _upload(self, request: web.Request) -> web.Response:
        file = self.world.files[request.match_info["id"]]
        file.data = await request.read()
        self._note("upload", file.data.decode(errors="replace"))
        return web.Response(text=f"OK - {len(file.data)}")

    def attach(self, name: str, content: bytes) -> Json:
        """Let a person upload a file in a form; return it as Slack describes it."""
        file = File(self.world.new_id("F"), name, len(content), data=content)
        self.world.files[file.id] = file
        url = f"{self.origin}/files-pri/{file.id}/download"
        return {"id": file.id, "name": name, "size": len(content), "url_private_download": url}

    async def _download(self, request: web.Request) -> web.Response:
        """Hand a file to an app that may read it; others are shown a page to sign in."""
        if self.file_statuses:
            return web.Response(status=self.file_statuses.pop(0))
        allowed = request.headers.get("Authorization") == f"Bearer {self.bot_token}"
        if not allowed or "files:read" not in self.rules.scopes:
            return web.Response(text="<html>Sign in</html>", content_type="text/html")
        return web.Response(body=self.world.files[request.match_info["id"]].data)

    def _note(self, method: str, text: str) -> None:
        if text:
            self.sent.append(Sent(self.clock.now(), method, text))

    def _new_user(self, name: str, *, bot: bool = False, admin: bool = False) -> User:
        made = User(self.world.new_id("U"), name, bot, admin)
        self.world.users[made.id] = made
        return made

    async def react(self, user: str, ts: str, name: str, *, tone: int = 0) -> None:
        """React to a message; `tone` 2 to 6 is a skin tone."""
        named = canonical(name) + (f"::skin-tone-{tone}" if tone else "")
        self.methods.react(self._message(ts), self.world.user(user).id, named)

    async def unreact(self, user: str, ts: str, name: str, *, tone: int = 0) -> None:
        named = canonical(name) + (f"::skin-tone-{tone}" if tone else "")
        self.methods.unreact(self._message(ts), self.world.user(user).id, named)

    async def slash(self, user: str, line: str, channel: str | None = None) -> Asked:
        """Use a slash command; returns when it is acknowledged, or raises DidNotRespondError."""
        who = self.world.user(user)
        place = self._place(channel) if channel else self._home(who.team)
        asked = self.interactions.new(who.id, place.id)
        command, _, text = line.partition(" ")
        escaped = html.escape(text, quote=False)
        for other in self.world.channels.values():
            escaped = escaped.replace(f"#{other.name}", f"<#{other.id}|{other.name}>")
        for person in self.world.users.values():
            escaped = escaped.replace(f"@{person.name}", f"<@{person.id}|{person.name}>")
        payload = {
            **self._common(asked),
            "command": command,
            "text": escaped,
            "team_id": place.team,
            "team_domain": "hall",
            "channel_id": place.id,
            "channel_name": place.name,
            "user_id": who.id,
            "user_name": who.name,
        }
        return await self._ask("slash_commands", payload, asked)

    def say(
        self, user: str, text: str, channel: str | None = None, thread: str | None = None
    ) -> Message:
        who = self.world.user(user)
        place = self._place(channel) if channel else self._home(who.team)
        said = Message(place.id, self.world.new_ts(), who.id, text, thread_ts=thread)
        place.messages[said.ts] = said
        return said

    def rewrite(self, ts: str, text: str) -> None:
        """Edit a message as who wrote it."""
        self._message(ts).body = html.escape(text, quote=False)

    def open_home(self, user: str, tab: str = "home") -> None:
        """Open the app itself, on its Home or Messages tab."""
        who = self.world.user(user)
        event: Json = {"type": "app_home_opened", "user": who.id, "tab": tab}
        event["channel"] = self.world.direct(who.id).id
        if tab == "home" and who.id in self.world.homes:
            event["view"] = self.world.homes[who.id]
        self.deliveries.tell_of(self.world.teams[who.team], event)

    async def press_home(self, user: str, label: str) -> Asked:
        """Press a button of the Home tab by its label, and confirm that where it asks."""
        who = self.world.user(user)
        view = self.world.homes[who.id]
        found = [e for block in view["blocks"] for e in block.get("elements", ())]
        found += [block["accessory"] for block in view["blocks"] if "accessory" in block]
        button = next((one for one in found if _label(one) == label), None)
        assert button is not None, f"no button {label!r} among {[_label(b) for b in found]}"
        asked = self.interactions.new(who.id, self.world.direct(who.id).id)
        container = {"type": "view", "view_id": view["id"]}
        acted = self._acted({"action_id": button["action_id"], "type": "button"})
        fields = {"container": container, "view": view, "actions": acted}
        return await self._interact(asked, "block_actions", **fields)

    async def shortcut(self, user: str, ts: str, callback_id: str) -> Asked:
        message, who = self.world.find(ts), self.world.user(user)
        place = self._place(message.channel)
        asked = self.interactions.new(who.id, message.channel)
        fields: Json = {"callback_id": callback_id, "action_ts": self.world.new_ts()}
        fields |= {"channel": {"id": place.id, "name": place.name}, "message": message.json()}
        return await self._interact(asked, "message_action", message_ts=ts, **fields)

    async def press(self, user: str, ts: str, label: str) -> Asked:
        message, who = self.world.find(ts), self.world.user(user)
        buttons = [b for block in message.blocks for b in block.get("elements", ())]
        button = next((b for b in buttons if _label(b) == label), None)
        assert button is not None, f"no button {label!r} among {[_label(b) for b in buttons]}"
        asked = self.interactions.new(who.id, message.channel)
        container = {"type": "message", "message_ts": ts, "channel_id": message.channel}
        acted = {key: button[key] for key in ("action_id", "value", "type") if key in button}
        fields = {"container": container, "message": message.json(), "actions": self._acted(acted)}
        fields["channel"] = {"id": message.channel, "name": self._place(message.channel).name}
        return await self._interact(asked, "block_actions", **fields)

    async def choose(self, user: str, message: Message, action_id: str, value: str = "") -> Asked:
        """Choose from a list below a message that only this person sees, or press a button."""
        who = self.world.user(user)
        lists = [e for block in message.blocks for e in block.get("elements", ())]
        offered = next(e for e in lists if e.get("action_id") == action_id)
        chosen = [one for one in offered.get("options", ()) if one["value"] == value]
        assert len(chosen) == (offered["type"] != "button")
        asked = self.interactions.new(who.id, message.channel)
        asked.pressed = message
        seen = {"type": "message", "message_ts": message.ts, "is_ephemeral": True}
        acted = {"type": offered["type"], "action_id": action_id}
        acted |= {"selected_option": chosen[0]} if chosen else {}
        fields = {
            "container": seen | {"channel_id": message.channel},
            "actions": self._acted(acted),
        }
        fields["channel"] = {"id": message.channel, "name": self._place(message.channel).name}
        return await self._interact(asked, "block_actions", **fields)

    async def submit(self, asked: Asked, values: dict[str, Any]) -> Asked:
        assert asked.view is not None, "there is no view"
        sent = self.interactions.new(asked.user, asked.channel)
        who = self.world.users[asked.user]
        state = {
            block["block_id"]: {block["element"]["action_id"]: _entered(block["element"], values)}
            for block in asked.view["blocks"]
            if block["type"] == "input"
        }
        view = asked.view | {"state": {"values": state}, "app_id": APP, "team_id": who.team}
        return await self._interact(sent, "view_submission", view=view)

    def _acted(self, act: Json) -> list[Json]:
        return [act | {"block_id": "b", "action_ts": self.world.new_ts()}]

    async def _interact(self, asked: Asked, kind: str, **fields: Any) -> Asked:
        who, payload = self.world.users[asked.user], self._common(asked)
        if "channel" not in fields:  # what is done in a view has no such address
            del payload["response_url"]
        payload |= {"type": kind, "user": {"id": who.id, "name": who.name, "team_id": who.team}}
        payload |= {"team": {"id": who.team, "domain": "hall"}, **fields}
        return await self._ask("interactive", payload, asked)

    def archive(self, channel: str | None = None) -> None:
        place = self._place(channel)
        self.deliveries.tell({"type": "channel_archive", "channel": place.id}, place.id)
        place.archived = True

    def delete_channel(self, channel: str | None = None) -> None:
        place = self._place(channel)
        self.deliveries.tell({"type": "channel_deleted", "channel": place.id}, place.id)
        del self.world.channels[place.id]

    def kick_bot(self, channel: str | None = None) -> None:
        place = self._place(channel)
        bot = self.world.teams[place.team].bot_user
        event = {"type": "member_left_channel", "user": bot, "channel": place.id}
        self.deliveries.tell(event, place.id)
        place.members.discard(bot)

    def delete_message(self, ts: str) -> None:
        self.world.find(ts).deleted = True

    def uninstall(self, team: str = TEAM) -> None:
        gone = self.world.teams[team]
        self.deliveries.tell_of(gone, {"type": "app_uninstalled"})
        gone.installed = False

    def revoke(self, team: str = TEAM) -> None:
        gone = self.world.teams[team]
        tokens = {"bot": [gone.bot_user], "oauth": []}
        self.deliveries.tell_of(gone, {"type": "tokens_revoked", "tokens": tokens})
        gone.installed = False

    async def _ask(self, kind: str, payload: Json, asked: Asked) -> Asked:
        began = self.world.clock.now()
        asked.answer = await self.deliveries.ask(kind, payload)
        asked.latency = self.world.clock.now() - began
        return asked

    def _common(self, asked: Asked) -> Json:
        return {
            "api_app_id": APP,
            "token": "old",
            "trigger_id": f"trigger-{asked.id}",
            "response_url": f"{self.origin}/response/{asked.id}",
        }

    def _message(self, ts: str) -> Message:
        found = self.world.find(ts)
        if found.deleted:
            raise Refusal("message_not_found")
        return found

    def _home(self, team: str) -> Channel:
        return next(c for c in self.world.channels.values() if c.team == team)

    def _place(self, ref: str | None) -> Channel:
        return self.channel if ref is None else self.world.channels[ref]
