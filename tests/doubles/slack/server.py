"""The double itself: everything joined, listening on loopback."""

from __future__ import annotations

import json

from aiohttp import web

from tests.doubles.faults import Fault, Faults
from tests.doubles.listening import Clock
from tests.doubles.slack.checks import check_message
from tests.doubles.slack.deliveries import Deliveries
from tests.doubles.slack.interactions import Interactions
from tests.doubles.slack.methods import Methods, canonical
from tests.doubles.slack.oauth import OAuth
from tests.doubles.slack.people import People
from tests.doubles.slack.rates import Limiter, Violation
from tests.doubles.slack.refusals import Json, Refusal
from tests.doubles.slack.rules import Rules
from tests.doubles.slack.socket import Socket
from tests.doubles.slack.state import BOT_USER, TEAM, Channel, File, Message, User, World
from tests.doubles.slack.web_api import Sent, WebApi, with_fault

BOT_TOKEN, APP_TOKEN = "xoxb-a-token-for-the-double", "xapp-a-token-for-the-double"
SIGNING_SECRET = "0123456789abcdef0123456789abcdef"
PEOPLE = ("olga", "ada", "ben", "cleo")


class SlackServer(People):
    """Slack on loopback, with one workspace, one channel, its admin olga and three members."""

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
        self.api = self._open_api()
        self.users = {name: self._new_user(name, admin=name == "olga") for name in PEOPLE}
        self.channel = self.add_channel("debates")

    # --- making more of it ------------------------------------------------------------------

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
        """Make a channel with everybody in it."""
        made = Channel(self.world.new_id("C"), name, private)
        made.members = {user.id for user in self.users.values()}
        made.members |= {BOT_USER} if with_bot else set()
        self.world.channels[made.id] = made
        return made

    # --- reading it -------------------------------------------------------------------------

    @property
    def api_url(self) -> str:
        """The address of the Web API."""
        return f"{self.origin}/api"

    @property
    def calls(self) -> list[str]:
        """The methods of the Web API that were called, in order."""
        return self.api.calls

    @property
    def violations(self) -> list[Violation]:
        """Every request over a rate limit; a good client leaves this empty."""
        return self.limiter.violations

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
        """Return the messages of a thread after its root, oldest first."""
        every = self.world.everything()
        return [m for m in every if m.thread_ts == root != m.ts and not m.deleted]

    def holders(self, ts: str, name: str) -> set[str]:
        """Return the names of the people who hold an emoji, whatever its tone: no bots."""
        wanted, found = canonical(name), set()
        for held, users in self.world.find(ts).reactions.items():
            if held.split("::")[0] == wanted:
                found |= {self.world.user(user).name for user in users}
        return {name for name in found if not self.world.user(name).bot}

    # --- making trouble ---------------------------------------------------------------------

    def fail(
        self, fault: Fault, method: str = "**", *, times: int = 1, skip: int = 0, text: str = ""
    ) -> None:
        """Let a fault happen to the next calls of a method; `*` stands for any of its parts."""
        self.faults.plan(fault, "*", method, times=times, skip=skip, text=text)

    # --- running it -------------------------------------------------------------------------

    def app(self, app: web.Application | None = None) -> web.Application:
        """Make the web application, or add to one."""
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

    # --- inside -----------------------------------------------------------------------------

    def _open_api(self) -> WebApi:
        joined = (self.world, self.rules, self.socket, self.deliveries, self.interactions)
        methods = Methods(*joined, self.oauth, lambda: self.origin).table()
        limits = (self.limiter, self.faults)
        return WebApi(self.world, self.rules, *limits, methods, self.sent, [], APP_TOKEN)

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
