"""The double itself: everything joined, listening on loopback."""

from __future__ import annotations

import asyncio

from aiohttp import web

from tests.doubles.discord.gateway import Gateway
from tests.doubles.discord.interactions import Interactions
from tests.doubles.discord.people import People
from tests.doubles.discord.permissions import EVERYONE, bits
from tests.doubles.discord.platform import Platform, Rules
from tests.doubles.discord.rates import Limiter, Rates, Violation
from tests.doubles.discord.refusals import Refusal
from tests.doubles.discord.rest import BASE, Rest, Sent
from tests.doubles.discord.routes import Routes
from tests.doubles.discord.state import (
    TEXT,
    Channel,
    Guild,
    Id,
    Message,
    Role,
    User,
    World,
)
from tests.doubles.facts import Code
from tests.doubles.faults import Fault, Faults
from tests.doubles.listening import Clock, Listening

TOKEN = "MTAwMDAwMDAwMDAwMDAwMDAwMA.GdOubl.a-token-for-the-double-only-000000000"
PEOPLE = ("olga", "ada", "ben", "cleo")
BOT_PERMISSIONS = (
    "view_channel",
    "send_messages",
    "send_messages_in_threads",
    "create_public_threads",
    "add_reactions",
    "read_message_history",
    "embed_links",
    "attach_files",
    "manage_messages",
)


class DiscordServer(People, Listening):
    """Discord on loopback, with one server, one channel, its owner olga and three members."""

    def __init__(self, *, rates: Rates | None = None, rules: Rules | None = None) -> None:
        self.clock = Clock()
        self.world = World(self.clock)
        self.rules = rules or Rules()
        self.sent: list[Sent] = []
        self.faults = Faults()
        self.gateway = Gateway(self.world, self._note)
        self.platform = Platform(self.world, self.gateway.emit, self.rules)
        self.interactions = Interactions(self.platform)
        self.limiter = Limiter(self.clock, rates or Rates())
        self.rest = Rest(self.limiter, self.faults, self.sent)
        self.token = TOKEN
        self.users = {name: self.world.new_user(name) for name in PEOPLE}
        self.guild = self.add_guild("Hall", self.users["olga"].id)
        self.channel = self.add_channel("debates")

    # --- making more of it ------------------------------------------------------------------

    @property
    def token(self) -> str:
        """The bot's token; setting another revokes it."""
        return self.rest.token

    @token.setter
    def token(self, token: str) -> None:
        self.rest.token = self.gateway.token = token

    def add_user(
        self, name: str, *, bot: bool = False, guild: Id | None = None, **days: int
    ) -> User:
        """Let somebody join a server; `bot` for another bot, `days` as in `new_user`."""
        user = self.world.new_user(name, bot=bot, **days)
        self.users[name] = user
        self._guild(guild).members[user.id] = set()
        return user

    def add_guild(self, name: str, owner: Id, *, with_bot: bool = True) -> Guild:
        """Make a server whose members are all users so far."""
        owner_id = self.world.user(owner).id
        made = Guild(self.world.new_id(), name, owner_id, joined=self.clock.now())
        self.world.guilds[made.id] = made
        made.roles[made.id] = Role(made.id, "@everyone", EVERYONE)
        mine = Role(self.world.new_id(), self.world.bot.name, bits(*BOT_PERMISSIONS))
        made.roles[mine.id] = mine
        made.members = {user.id: set() for user in self.users.values()}
        if with_bot:
            made.members[self.world.bot.id] = {mine.id}
        return made

    def add_channel(self, name: str, guild: Id | None = None, *, kind: int = TEXT) -> Channel:
        """Make a channel: of text, unless another kind is given."""
        owner = self.guild if guild is None else self.world.guild(guild)
        made = Channel(self.world.new_id(), owner.id, name, type=kind)
        self.world.channels[made.id] = made
        return made

    def add_role(self, name: str, *permissions: str, holder: Id | None = None) -> Role:
        """Make a role of the first server and give it to somebody."""
        made = Role(self.world.new_id(), name, bits(*permissions))
        self.guild.roles[made.id] = made
        if holder is not None:
            self.guild.members[self.world.user(holder).id].add(made.id)
        return made

    # --- reading it ---------------------------------------------------------------------------

    @property
    def api_url(self) -> str:
        """The address of the API, including the version."""
        return f"{self.origin}{BASE}"

    @property
    def bot(self) -> User:
        """The bot's user."""
        return self.world.bot

    @property
    def violations(self) -> list[Violation]:
        """Every request over a rate limit; a good client leaves this empty."""
        return self.limiter.violations

    def messages(self, channel: Id | None = None) -> list[Message]:
        """Return the messages of a channel or thread, oldest first."""
        return self.world.in_order(self._place(channel).id)

    def threads(self, channel: Id | None = None) -> list[Channel]:
        """Return the threads of a channel, oldest first."""
        return sorted(self.world.threads(self._place(channel).id), key=lambda t: int(t.id))

    def holders(self, message: Id, emoji: str) -> set[str]:
        """Return the names of the people who hold an emoji: no bots."""
        held = self.world.find_message(message).holders(emoji)
        users = [self.world.user(user) for user in held]
        return {user.name for user in users if not user.bot}

    # --- making trouble -------------------------------------------------------------------------

    def fail(
        self,
        fault: Fault,
        method: str = "*",
        path: str = "/**",
        *,
        times: int = 1,
        skip: int = 0,
        text: str = "",
    ) -> None:
        """Let a fault happen to the next requests that match; see `Faults.plan`."""
        self.faults.plan(fault, method, path, times=times, skip=skip, text=text)

    # --- running it ---------------------------------------------------------------------

    def app(self, app: web.Application | None = None) -> web.Application:
        """Make the web application (or add to one): API, gateway and files."""
        app = web.Application(client_max_size=64 * 2**20) if app is None else app
        routes = Routes(self.platform, self.interactions, self.gateway, lambda: self.origin)
        for method, template, handler in routes.table():
            self.rest.add(app, method, template, handler)
        app.router.add_get("/gateway", self.gateway.connect)
        app.router.add_get("/gateway/", self.gateway.connect)
        app.router.add_get("/attachments/{channel}/{id}/{name}", self._file)
        app.router.add_route("*", "/{rest:.*}", _unknown)
        return app

    def listens(self, authority: str) -> None:
        self.gateway.url = f"ws://{authority}/gateway"

    async def cut(self) -> None:
        self.gateway.drop()
        await asyncio.sleep(0)

    async def _file(self, request: web.Request) -> web.Response:
        wanted = request.match_info["id"]
        fault = self.faults.meet("GET", request.path, "")
        if fault is not None:
            return web.Response(status=fault.status)
        if wanted in self.world.attached:
            return web.Response(body=self.world.attached[wanted].data)
        for message in self.world.in_order(request.match_info["channel"]):
            for file in message.attachments:
                if file.id == wanted:
                    return web.Response(body=file.data)
        return web.Response(status=404)

    def _note(self, method: str, path: str, text: str) -> None:
        self.sent.append(Sent(self.clock.now(), method, path, text))


async def _unknown(request: web.Request) -> web.Response:
    return web.json_response(Refusal(Code.NONE, status=404).body(), status=404)
