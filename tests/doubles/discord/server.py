"""The double itself, listening on loopback, and what people do on it."""

import asyncio
from typing import Any

from aiohttp import web

from tests.doubles.discord.gateway import Gateway
from tests.doubles.discord.interactions import (
    AUTOCOMPLETE,
    COMMAND,
    COMPONENT,
    MODAL_SUBMIT,
    Interaction,
    Interactions,
)
from tests.doubles.discord.limits import LABEL, SELECTS, modal_inputs
from tests.doubles.discord.platform import Draft, Platform, Rules
from tests.doubles.discord.rest import BASE, Limiter, Rates, Rest, Sent
from tests.doubles.discord.routes import Routes
from tests.doubles.discord.state import (
    DIRECT,
    EVERYONE,
    FLAGS,
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    TEXT,
    Attachment,
    Channel,
    Guild,
    Id,
    Json,
    Message,
    Overwrite,
    Refusal,
    Role,
    User,
    World,
    attachment_json,
    bits,
    channel_json,
    guild_create_json,
    in_channel,
    member_json,
    message_json,
    require,
    require_sending,
    texts,
    user_json,
)
from tests.doubles.facts import Code
from tests.doubles.faults import Fault, Faults
from tests.doubles.loopback import Clock, Listening

TYPES: dict[int, tuple[type, ...]] = {3: (str,), 4: (int,), 5: (bool,), 10: (int, float)}
RESOLVED = {6: "users", 7: "channels", 8: "roles", 9: "users", 11: "attachments"}


class NotOfferedError(AssertionError):
    """Discord's client would not let the person do this."""


def _component(message: Message, custom_id: str) -> int:
    for row in message.components:
        for part in row.get("components", []):
            if part.get("custom_id") == custom_id:
                if part.get("disabled"):
                    raise NotOfferedError(f"{custom_id} is disabled.")
                return int(part["type"])
    raise NotOfferedError(f"No component {custom_id!r} under: {' '.join(texts(message.embeds))}")


def _check_value(option: Json, value: Any) -> None:
    kind, name = option["type"], option["name"]
    if kind not in TYPES or not isinstance(value, TYPES[kind]):
        raise NotOfferedError(f"{value!r} is not for option {name} of type {kind}.")
    if option.get("choices") and value not in [c["value"] for c in option["choices"]]:
        raise NotOfferedError(f"{value!r} is no choice of {name}.")
    size = len(value) if isinstance(value, str) else value
    unit = "length" if isinstance(value, str) else "value"
    most = option.get(f"max_{unit}", 6000 if unit == "length" else None)
    least = option.get(f"min_{unit}")
    if (most is not None and size > most) or (least is not None and size < least):
        raise NotOfferedError(f"{name} takes from {least} to {most}.")


def _filled(row: Json, values: dict[str, str]) -> Json:
    def fill(item: Json) -> Json:
        text = values.get(item["custom_id"], item.get("value") or "")
        return {"type": item["type"], "id": 2, "custom_id": item["custom_id"], "value": text}

    if row.get("type") == LABEL:
        return {"type": LABEL, "id": 1, "component": fill(row["component"])}
    return {"type": 1, "id": 1, "components": [fill(item) for item in row.get("components", [])]}


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


class DiscordServer(Listening):
    """Discord on loopback, with one server, one channel, its owner olga and three members.

    People's acts are here too: users are given by id or name, messages and channels by id. What
    Discord refuses to a person raises Refusal; what its client does not even offer raises
    NotOfferedError.
    """

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
        self.violations = self.limiter.violations  # a good client leaves them empty
        self.bot = self.world.bot
        self.rest = Rest(self.limiter, self.faults, self.sent)
        self.token = TOKEN
        self.users = {name: self.world.new_user(name) for name in PEOPLE}
        self.guild = self.add_guild("Hall", self.users["olga"].id)
        self.channel = self.add_channel("debates")

    @property
    def token(self) -> str:
        """The bot's token; setting another revokes it."""
        return self.rest.token

    @token.setter
    def token(self, token: str) -> None:
        self.rest.token = self.gateway.token = token

    @property
    def settings(self) -> dict[str, str]:
        """What a process is set to, to be on it."""
        return {"ROSTRUM_DISCORD__TOKEN": self.token, "ROSTRUM_DISCORD__API_URL": self.api_url}

    def add_user(
        self, name: str, *, bot: bool = False, guild: Id | None = None, **days: int
    ) -> User:
        """Let somebody join a server; `bot` for another bot, `days` as in `new_user`."""
        user = self.world.new_user(name, bot=bot, **days)
        self.users[name] = user
        self._guild(guild).members[user.id] = set()
        return user

    def add_guild(self, name: str, owner: Id, *, with_bot: bool = True) -> Guild:
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
        owner = self.guild if guild is None else self.world.guild(guild)
        made = Channel(self.world.new_id(), owner.id, name, type=kind)
        self.world.channels[made.id] = made
        return made

    def add_role(self, name: str, *permissions: str, holder: Id | None = None) -> Role:
        made = Role(self.world.new_id(), name, bits(*permissions))
        self.guild.roles[made.id] = made
        if holder is not None:
            self.guild.members[self.world.user(holder).id].add(made.id)
        return made

    @property
    def api_url(self) -> str:
        return f"{self.origin}{BASE}"

    def messages(self, channel: Id | None = None) -> list[Message]:
        return self.world.in_order(self._place(channel).id)

    def threads(self, channel: Id | None = None) -> list[Channel]:
        return sorted(self.world.threads(self._place(channel).id), key=lambda t: int(t.id))

    def holders(self, message: Id, emoji: str) -> set[str]:
        """Return the names of the people who hold an emoji: no bots."""
        held = self.world.find_message(message).holders(emoji)
        users = [self.world.user(user) for user in held]
        return {user.name for user in users if not user.bot}

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

    def app(self, app: web.Application | None = None) -> web.Application:
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

    def react(self, user: Id, message: Id, emoji: str, *, burst: bool = False) -> None:
        """React as somebody, with Nitro by a super reaction."""
        who = self.world.user(user).id
        self.platform.react(self.world.find_message(message), who, emoji, burst=burst)

    def unreact(self, user: Id, message: Id, emoji: str, *, burst: bool = False) -> None:
        found, who = self.world.find_message(message), self.world.user(user).id
        self.platform.unreact(found, who, emoji, actor=who, burst=burst)

    def clear_reactions(self, message: Id) -> None:
        found = self.world.find_message(message)
        self.platform.clear(found, self._owner(found.channel_id))

    def clear_emoji(self, message: Id, emoji: str) -> None:
        """Remove all reactions of one emoji as a moderator."""
        found = self.world.find_message(message)
        self.platform.clear(found, self._owner(found.channel_id), emoji)

    def say(self, user: Id, text: str, channel: Id | None = None) -> Message:
        place = self._place(channel)
        return self.platform.post(place, self.world.user(user).id, Draft({"content": text}))

    def rewrite(self, user: Id, message: Id, text: str) -> None:
        """Edit one's own message."""
        found = self.world.find_message(message)
        self.platform.edit(found, self.world.user(user).id, Draft({"content": text}))

    def delete_message(self, message: Id) -> None:
        found = self.world.find_message(message)
        self.platform.delete(found, self._owner(found.channel_id))

    def add_webhook(self, channel: Id, name: str = "News") -> str:
        """Make a webhook as the server's owner; return its id."""
        return self.world.add_webhook(str(channel), name, self._owner(channel)).id

    def delete_webhook(self, webhook: Id) -> None:
        del self.world.webhooks[str(webhook)]

    def open_post(self, user: Id, forum: Id, name: str, text: str) -> Channel:
        place, who = self.world.channel(forum), self.world.user(user).id
        made = self.platform.open_thread(place, who, {"name": name}, kind=PUBLIC_THREAD)
        self.platform.post(made, who, Draft({"content": text}))
        return made

    def open_thread(self, user: Id, name: str, *, private: bool = False) -> Channel:
        """Open a thread in the first channel as somebody; a private one is theirs alone."""
        who, kind = self.world.user(user).id, PRIVATE_THREAD if private else PUBLIC_THREAD
        return self.platform.open_thread(self._place(None), who, {"name": name}, kind=kind)

    def delete_thread(self, thread: Id) -> None:
        self.platform.delete_channel(self.world.channel(thread), self._owner(thread))

    def archive(self, thread: Id, *, archived: bool = True) -> None:
        """Archive a thread, or take it out of the archive."""
        change = {"archived": archived}
        self.platform.change_thread(self.world.channel(thread), self._owner(thread), change)

    def lock(self, thread: Id, *, locked: bool = True, archived: bool = True) -> None:
        """Lock a thread (by default archiving it too, as Discord's menu does) or unlock it."""
        change = {"locked": locked, "archived": locked and archived}
        self.platform.change_thread(self.world.channel(thread), self._owner(thread), change)

    def kick_bot(self, guild: Id | None = None) -> None:
        found = self._guild(guild)
        found.members.pop(self.world.bot.id, None)
        self.gateway.emit("GUILD_DELETE", {"id": found.id}, found.id)

    def invite_bot(self, guild: Id | None = None) -> None:
        found = self._guild(guild)
        found.members[self.world.bot.id] = {r for r in found.roles if r != found.id}
        told = guild_create_json(self.world, found)
        # Only a server that was known before is said to be available again.
        del told["unavailable"]
        self.gateway.emit("GUILD_CREATE", told, found.id)

    def deny(self, permission: str, channel: Id | None = None) -> None:
        """Take a permission from the bot, in one channel or in all; discord.py's name for it."""
        self._overwrite(permission, channel, denied=True)

    def allow(self, permission: str, channel: Id | None = None) -> None:
        """Give the bot a permission, in one channel or in all."""
        self._overwrite(permission, channel, denied=False)

    def _overwrite(self, permission: str, channel: Id | None, *, denied: bool) -> None:
        flag, me = FLAGS[permission], self.world.bot.id
        places = [self.world.channel(channel)] if channel else list(self.world.channels.values())
        for place in places:
            if place.is_thread:
                continue
            overwrite = place.overwrites.setdefault(me, Overwrite(me, 1))
            overwrite.deny = overwrite.deny | flag if denied else overwrite.deny & ~flag
            overwrite.allow = overwrite.allow & ~flag if denied else overwrite.allow | flag
            shown = channel_json(self.world, place)
            # Told to all who were in the channel a moment ago, so not by who sees it now.
            self.gateway.emit("CHANNEL_UPDATE", shown, place.guild_id)

    def slash(
        self,
        user: Id,
        name: str,
        options: Json | None = None,
        *,
        channel: Id | None = None,
        locale: str = "en-US",
    ) -> Interaction:
        """Use a command such as `debate start` with its options by name."""
        place = self._place(channel)
        who = self.world.user(user).id
        data = self._command(place, who, name, options or {})
        asked = self.interactions.begin(COMMAND, who, place, f"/{name}")
        self._send(asked, data, locale)
        return asked

    def menu(
        self, user: Id, name: str, message: Id | Message, *, locale: str = "en-US"
    ) -> Interaction:
        """Choose a command in the menu of a message.

        Discord hands over the whole message, also to bots without the intent for its content.
        """
        found = message if isinstance(message, Message) else self.world.find_message(message)
        place, who = self.world.channel(found.channel_id), self.world.user(user).id
        command = self._offered(place, who, name, kind=3)
        data = {"id": command["id"], "name": command["name"], "type": 3, "target_id": found.id}
        data["resolved"] = {"messages": {found.id: message_json(self.world, found)}}
        asked = self.interactions.begin(COMMAND, who, place, name)
        self._send(asked, data, locale)
        return asked

    def autocomplete(
        self,
        user: Id,
        name: str,
        focused: str,
        typed: str,
        options: Json | None = None,
        *,
        channel: Id | None = None,
        locale: str = "en-US",
    ) -> Interaction:
        """Type into an option that completes itself; the handle gets `choices`."""
        place = self._place(channel)
        who = self.world.user(user).id
        given = {**(options or {}), focused: typed}
        data = self._command(place, who, name, given, focused)
        asked = self.interactions.begin(AUTOCOMPLETE, who, place, f"/{name} {focused}:")
        self._send(asked, data, locale)
        return asked

    def press(
        self,
        user: Id,
        message: Id | Message,
        custom_id: str,
        *,
        values: list[str] | None = None,
        locale: str = "en-US",
    ) -> Interaction:
        found = message if isinstance(message, Message) else self.world.find_message(message)
        place = self.world.channel(found.channel_id)
        kind = _component(found, custom_id)
        who = self.world.user(user).id
        require(self.world, place, who)
        data: Json = {"custom_id": custom_id, "component_type": kind}
        if kind in SELECTS:
            data["values"] = values or []
        asked = self.interactions.begin(COMPONENT, who, place, f"[{custom_id}]", found)
        self._send(asked, data, locale, message=message_json(self.world, found))
        return asked

    def submit_modal(
        self, asked: Interaction, values: dict[str, str], *, locale: str = "en-US"
    ) -> Interaction:
        if asked.modal is None:
            raise NotOfferedError(f"{asked.name} opened no dialog.")
        for item in modal_inputs(asked.modal):
            text = values.get(item["custom_id"], item.get("value") or "")
            least = item.get("min_length") or (1 if item.get("required", True) else 0)
            if not (least <= len(text) <= (item.get("max_length") or 4000)):
                raise NotOfferedError(f"{item['custom_id']} does not take {len(text)} characters.")
        rows = [_filled(row, values) for row in asked.modal["components"]]
        data = {"custom_id": asked.modal["custom_id"], "components": rows}
        name = f"dialog {asked.modal['custom_id']}"
        begun = self.interactions.begin(
            MODAL_SUBMIT, asked.user_id, asked.channel, name, asked.pressed
        )
        more = {"message": message_json(self.world, asked.pressed)} if asked.pressed else {}
        self._send(begun, data, locale, **more)
        return begun

    def _send(self, asked: Interaction, data: Json, locale: str, **more: Json) -> None:
        place, who, me = asked.channel, asked.user_id, self.world.bot.id
        mine, shown = str(in_channel(self.world, place, me)), channel_json(self.world, place)
        payload = {
            "version": 1,
            "id": asked.id,
            "application_id": me,
            "type": asked.kind,
            "token": asked.token,
            "data": data,
            "channel_id": place.id,
            "app_permissions": mine,
            "locale": locale,
            "entitlements": [],
            "authorizing_integration_owners": {"1": who},
            "attachment_size_limit": 10 * 2**20,
            **more,
        }
        if place.type == DIRECT:  # no server is in it
            user = user_json(self.world.user(who))
            payload["channel"] = {"id": place.id, "type": DIRECT, "recipients": [user]}
            payload |= {"user": user, "context": 1}
        else:
            guild = self.world.guild(place.guild_id)
            member = member_json(self.world, guild, who)
            member["permissions"] = str(in_channel(self.world, place, who))
            told = {"id": guild.id, "locale": guild.locale, "features": []}
            payload |= {"guild_id": guild.id, "guild": told, "guild_locale": guild.locale}
            payload |= {"member": member, "channel": {**shown, "permissions": mine}, "context": 0}
            if me in guild.members:
                payload["authorizing_integration_owners"] = {"0": guild.id}
        self.gateway.emit("INTERACTION_CREATE", payload, place.guild_id or "0", place)

    def _command(
        self, place: Channel, who: str, name: str, options: Json, focused: str = ""
    ) -> Json:
        command = self._offered(place, who, name.split()[0])
        resolved: Json = {}
        nested = self._nested(place, command, name.split()[1:], options, focused, resolved)
        data = {"id": command["id"], "name": command["name"], "type": 1, "options": nested}
        if command["guild_id"]:
            data["guild_id"] = command["guild_id"]
        return {**data, "resolved": resolved} if resolved else data

    def _offered(self, place: Channel, who: str, name: str, kind: int = 1) -> Json:
        """Find a command that is shown to somebody in a place."""
        if place.archived:
            raise NotOfferedError("An archived thread takes no commands.")
        require_sending(self.world, place, who)
        command = self._registered(place, name, kind)
        needed = command.get("default_member_permissions")
        if needed is not None:
            held = in_channel(self.world, place, who)
            wanted = int(needed) or FLAGS["administrator"]
            if held & wanted != wanted:
                raise NotOfferedError(f"{name} is not shown to {who}.")
        return command

    def _registered(self, place: Channel, name: str, kind: int = 1) -> Json:
        if place.type == DIRECT:
            return self._installed_by_a_person(name, kind, context=1)
        if self.world.bot.id not in self.world.guild(place.guild_id).members:
            return self._installed_by_a_person(name, kind, context=0)
        for scope in (place.guild_id, None):
            for command in self.world.commands.get(scope, {}).values():
                if command["name"] == name and command["type"] == kind:
                    return command
        raise NotOfferedError(f"No command /{name} is registered.")

    def _installed_by_a_person(self, name: str, kind: int, context: int) -> Json:
        """Find a command that people may install for themselves: where the bot is not a member."""
        for command in self.world.commands.get(None, {}).values():
            theirs = 1 in (command.get("integration_types") or (0,))
            there = context in (command.get("contexts") or (0, 1, 2))
            if (command["name"], command["type"]) == (name, kind) and theirs and there:
                return command
        raise NotOfferedError(f"/{name} is not offered where the bot is not a member.")

    def _nested(
        self, place: Channel, entry: Json, path: list[str], given: Json, focused: str, found: Json
    ) -> list[Json]:
        offered = entry.get("options") or []
        if path:
            for option in offered:
                if option["name"] == path[0] and option["type"] in (1, 2):
                    below = self._nested(place, option, path[1:], given, focused, found)
                    return [{"name": path[0], "type": option["type"], "options": below}]
            raise NotOfferedError(f"There is no {path[0]!r} in /{entry['name']}.")
        known = {option["name"]: option for option in offered}
        if unknown := given.keys() - known.keys():
            raise NotOfferedError(f"/{entry['name']} has no option {sorted(unknown)}.")
        if not focused:
            missing = {n for n, o in known.items() if o.get("required")} - given.keys()
            if missing:
                raise NotOfferedError(f"/{entry['name']} needs {sorted(missing)}.")
        return [
            self._option(place, known[name], value, focused == name, found)
            for name, value in given.items()
        ]

    def _option(self, place: Channel, option: Json, value: Any, typing: bool, found: Json) -> Json:
        kind = option["type"]
        if typing:
            if not option.get("autocomplete"):
                raise NotOfferedError(f"{option['name']} does not complete itself.")
            return {"name": option["name"], "type": kind, "value": value, "focused": True}
        if kind in RESOLVED:
            value = self._resolve(place, kind, value, found)
        else:
            _check_value(option, value)
        return {"name": option["name"], "type": kind, "value": value}

    def _resolve(self, place: Channel, kind: int, value: Any, found: Json) -> str:
        guild = self.world.guild(place.guild_id)
        table = found.setdefault(RESOLVED[kind], {})
        if kind == 11:  # a file of the person's, given as its name and bytes
            file = Attachment(self.world.new_id(), *value)
            self.world.attached[file.id] = file
            table[file.id] = attachment_json(file, place.id, self.origin) | {"ephemeral": True}
            return file.id
        if kind == 7:
            channel = self.world.channel(value)
            held = in_channel(self.world, channel, self.world.bot.id)
            table[channel.id] = {**channel_json(self.world, channel), "permissions": str(held)}
            return channel.id
        if kind == 8:
            role = guild.roles[str(value)]
            table[role.id] = {"id": role.id, "name": role.name, "permissions": "0"}
            return role.id
        user = self.world.user(value)
        table[user.id] = user_json(user)
        member = member_json(self.world, guild, user.id)
        del member["user"]
        member["permissions"] = str(in_channel(self.world, place, user.id))
        found.setdefault("members", {})[user.id] = member
        return user.id

    def _place(self, channel: Id | None) -> Channel:
        return self.channel if channel is None else self.world.channel(channel)

    def _guild(self, guild: Id | None) -> Guild:
        return self.world.guild(self.channel.guild_id if guild is None else guild)

    def _owner(self, channel: Id) -> str:
        return self.world.guild(self.world.channel(channel).guild_id).owner_id


async def _unknown(request: web.Request) -> web.Response:
    return web.json_response(Refusal(Code.NONE, status=404).body(), status=404)
