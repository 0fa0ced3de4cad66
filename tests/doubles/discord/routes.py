"""Every route of the API that the double serves, from a request to the platform's rules."""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from tests.doubles.discord.gateway import Gateway
from tests.doubles.discord.interactions import Interactions
from tests.doubles.discord.limits import check_commands
from tests.doubles.discord.platform import Draft, Hooks, Platform
from tests.doubles.discord.rest import Call, attachments
from tests.doubles.discord.state import (
    LOADING,
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    Channel,
    Faulty,
    Guild,
    Json,
    Message,
    Refusal,
    channel_json,
    guild_json,
    member_json,
    message_json,
    plain,
    require,
    require_sending,
    role_json,
    thread_member_json,
    user_json,
)
from tests.doubles.facts import Code, Discord

Handler = Callable[[Call], Any]


class Routes:
    """What the bot may ask for over HTTP."""

    def __init__(
        self, platform: Platform, asked: Interactions, gateway: Gateway, base: Callable[[], str]
    ) -> None:
        self._platform = platform
        self._world = platform.world
        self._asked = asked
        self._at_gateway = gateway
        self._base = base
        self._hooks = Hooks(platform, base)

    @property
    def _me(self) -> str:
        return self._world.bot.id

    def table(self) -> list[tuple[str, str, Handler]]:
        return [
            *self._account_routes(),
            *self._message_routes(),
            *self._thread_routes(),
            *self._command_routes(),
        ]

    def _account_routes(self) -> list[tuple[str, str, Handler]]:
        return [
            ("GET", "/users/@me", lambda call: user_json(self._world.bot)),
            ("GET", "/oauth2/applications/@me", self._application),
            ("GET", "/users/{user}", lambda c: user_json(self._world.user(c.params["user"]))),
            ("POST", "/users/@me/channels", self._direct_channel),
            ("GET", "/gateway/bot", self._gateway),
            ("GET", "/users/@me/guilds", self._guilds),
            ("GET", "/guilds/{guild}", lambda c: guild_json(self._world, self._guild(c))),
            ("GET", "/guilds/{guild}/channels", self._guild_channels),
            ("GET", "/guilds/{guild}/roles", self._roles),
            ("GET", "/guilds/{guild}/members/{user}", self._member),
        ]

    def _application(self, call: Call) -> Json:
        bot = self._world.bot
        return {
            "id": bot.id,
            "name": bot.name,
            "icon": None,
            "description": "",
            "bot_public": True,
            "bot_require_code_grant": False,
            "owner": user_json(bot),
            "verify_key": "0" * 64,
            "team": None,
            "flags": 0,
            "bot": user_json(bot),
        }

    def _direct_channel(self, call: Call) -> Json:
        return channel_json(self._world, self._world.direct(call.body["recipient_id"]))

    def _gateway(self, call: Call) -> Json:
        limit = {
            "total": 1000,
            "remaining": self._at_gateway.session_starts,
            "reset_after": 14_400_000,
            "max_concurrency": self._at_gateway.concurrency,
        }
        gateway = self._at_gateway
        return {"url": gateway.url, "shards": gateway.shards, "session_start_limit": limit}

    def _guild(self, call: Call) -> Guild:
        guild = self._world.guild(call.params["guild"])
        if self._me not in guild.members:
            raise Refusal(Code.MISSING_ACCESS)
        return guild

    def _guilds(self, call: Call) -> list[Json]:
        guilds = [g for g in self._world.guilds.values() if self._me in g.members]
        return [{"id": g.id, "name": g.name, "icon": None, "features": []} for g in guilds]

    def _guild_channels(self, call: Call) -> list[Json]:
        guild = self._guild(call)
        places = [c for c in self._world.channels.values() if c.guild_id == guild.id]
        return [channel_json(self._world, c) for c in places if not c.is_thread]

    def _roles(self, call: Call) -> list[Json]:
        return [role_json(role) for role in self._guild(call).roles.values()]

    def _member(self, call: Call) -> Json:
        guild, user = self._guild(call), call.params["user"].replace("@me", self._me)
        if user not in guild.members:
            raise Refusal(Code.UNKNOWN_MEMBER)
        return member_json(self._world, guild, user)

    def _message_routes(self) -> list[tuple[str, str, Handler]]:
        messages = "/channels/{channel}/messages"
        message = messages + "/{message}"
        emoji = message + "/reactions/{emoji}"
        return [
            ("POST", "/channels/{channel}/typing", self._typing),
            ("GET", messages, self._read_all),
            ("POST", messages, self._post),
            ("GET", message, self._read),
            ("PATCH", message, self._edit),
            ("DELETE", message, lambda c: self._platform.delete(self._message(c), self._me)),
            ("PUT", emoji + "/@me", self._react),
            ("DELETE", emoji + "/{user}", self._unreact),
            ("GET", emoji, self._holders),
        ]

    def _channel(self, call: Call) -> Channel:
        channel = self._world.channel(call.params["channel"])
        require(self._world, channel, self._me)
        return channel

    def _message(self, call: Call) -> Message:
        return self._world.message(self._channel(call).id, call.params["message"])

    def _show(self, message: Message) -> Json:
        shown = message_json(self._world, message, self._base())
        return self._platform.withheld(message, shown)

    def _draft(self, call: Call) -> Draft:
        return Draft(call.body, attachments(call, self._world.new_id))

    def _typing(self, call: Call) -> None:
        channel = self._channel(call)
        require_sending(self._world, channel, self._me)
        self._world.typing.append((self._world.clock.now(), channel.id))

    def _read_all(self, call: Call) -> list[Json]:
        channel = self._channel(call)
        require(self._world, channel, self._me, "read_message_history")
        most = int(call.query.get("limit", 50))
        if not 1 <= most <= Discord.REACTIONS_A_PAGE:
            faulty = Faulty()
            faulty.add("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
            faulty.check()
        found = self._world.in_order(channel.id)
        if "after" in call.query:
            found = [m for m in found if int(m.id) > int(call.query["after"])][:most]
        elif "before" in call.query:
            found = [m for m in found if int(m.id) < int(call.query["before"])]
        return [self._show(m) for m in reversed(found[-most:])]

    def _post(self, call: Call) -> Json:
        message = self._platform.post(self._channel(call), self._me, self._draft(call))
        shown = self._show(message)
        return {**shown, "nonce": message.nonce} if message.nonce else shown

    def _read(self, call: Call) -> Json:
        message = self._message(call)
        require(self._world, self._channel(call), self._me, "read_message_history")
        return self._show(message)

    def _edit(self, call: Call) -> Json:
        edited = self._platform.edit(self._message(call), self._me, self._draft(call))
        return self._show(edited)

    def _react(self, call: Call) -> None:
        self._platform.react(self._message(call), self._me, unquote(call.params["emoji"]))

    def _unreact(self, call: Call) -> None:
        user = call.params["user"].replace("@me", self._me)
        emoji = unquote(call.params["emoji"])
        self._platform.unreact(self._message(call), user, emoji, actor=self._me)

    def _holders(self, call: Call) -> list[Json]:
        message = self._message(call)
        require(self._world, self._channel(call), self._me, "read_message_history")
        reaction = message.reactions.get(plain(unquote(call.params["emoji"])))
        if reaction is None:
            raise Refusal(Code.UNKNOWN_EMOJI)
        most, after = int(call.query.get("limit", 25)), int(call.query.get("after", 0))
        kind = reaction.of(call.query.get("type") == "1")  # without one: ordinary reactions
        ids = sorted((u for u in kind if int(u) > after), key=int)
        return [
            user_json(self._world.user(user)) for user in ids[: min(most, Discord.REACTIONS_A_PAGE)]
        ]

    def _thread_routes(self) -> list[tuple[str, str, Handler]]:
        channel = "/channels/{channel}"
        return [
            ("GET", channel, lambda call: channel_json(self._world, self._channel(call))),
            ("PATCH", channel, self._change_thread),
            ("DELETE", channel, self._delete_channel),
            ("POST", channel + "/messages/{message}/threads", self._thread_on_message),
            ("POST", channel + "/threads", self._thread),
        ]

    def _change_thread(self, call: Call) -> Json:
        channel = self._channel(call)
        if not channel.is_thread:
            require(self._world, channel, self._me, "manage_channels")
            raise Refusal(Code.NOT_IN_SUCH_A_CHANNEL)
        self._platform.change_thread(channel, self._me, call.body)
        return channel_json(self._world, channel)

    def _delete_channel(self, call: Call) -> Json:
        channel = self._channel(call)
        shown = channel_json(self._world, channel)
        self._platform.delete_channel(channel, self._me)
        return shown

    def _thread_on_message(self, call: Call) -> Json:
        channel, message = self._channel(call), self._message(call)
        thread = self._platform.open_thread(
            channel, self._me, call.body, on=message, kind=PUBLIC_THREAD
        )
        return self._opened(thread)

    def _thread(self, call: Call) -> Json:
        kind = int(call.body.get("type") or PRIVATE_THREAD)
        thread = self._platform.open_thread(self._channel(call), self._me, call.body, kind=kind)
        return self._opened(thread)

    def _opened(self, thread: Channel) -> Json:
        shown = channel_json(self._world, thread)
        return {**shown, "member": thread_member_json(thread, self._me)}

    def _command_routes(self) -> list[tuple[str, str, Handler]]:
        app = "/applications/{app}"
        table: list[tuple[str, str, Handler]] = []
        for scope in (app + "/commands", app + "/guilds/{guild}/commands"):
            table += [
                ("GET", scope, lambda c: list(self._registered(c).values())),
                ("PUT", scope, self._put_commands),
            ]
        hook = "/webhooks/{app}/{token}"
        return [
            *table,
            ("POST", "/interactions/{interaction}/{token}/callback", self._callback),
            ("GET", "/channels/{channel}/webhooks", lambda c: self._hooks.listed(self._channel(c))),
            ("POST", "/channels/{channel}/webhooks", self._make_webhook),
            ("POST", hook, self._follow_up),
            ("PATCH", hook + "/messages/{message}", self._edit_answer),
            ("DELETE", hook + "/messages/{message}", self._hooks.delete),
        ]

    def _registered(self, call: Call) -> dict[str, Json]:
        if "guild" in call.params:
            self._guild(call)
        return self._world.commands.setdefault(call.params.get("guild"), {})

    def _put_commands(self, call: Call) -> list[Json]:
        check_commands(call.body)
        registered = self._registered(call)
        old = {command["name"]: command["id"] for command in registered.values()}
        made = [self._command(call, command, old) for command in call.body]
        registered.clear()
        registered.update({command["id"]: command for command in made})
        return made

    def _command(self, call: Call, body: Json, old: dict[str, str]) -> Json:
        id_ = old.get(body["name"]) or self._world.new_id()
        usual = {"type": 1, "description": "", "default_member_permissions": None, "options": []}
        known = {"id": id_, "application_id": self._me, "version": id_}
        return {**usual, **body, **known, "guild_id": call.params.get("guild")}

    def _callback(self, call: Call) -> Json | None:
        files = attachments(call, self._world.new_id)
        params = call.params
        asked = self._asked.acknowledge(params["interaction"], params["token"], call.body, files)
        if call.query.get("with_response", "").lower() not in ("1", "true"):
            return None
        told: Json = {"id": asked.id, "type": asked.kind}
        resource: Json = {"type": asked.type}
        if asked.answer is not None:
            told["response_message_id"] = asked.answer.id
            told["response_message_loading"] = bool(asked.answer.flags & LOADING)
            told["response_message_ephemeral"] = asked.answer.ephemeral
            resource["message"] = self._show(asked.answer)
        return {"interaction": told, "resource": resource}

    def _make_webhook(self, call: Call) -> Json:
        return self._hooks.make(self._channel(call), call.body)

    def _follow_up(self, call: Call) -> Json | None:
        if self._hooks.known(call):
            return self._hooks.execute(call, self._draft(call))
        asked = self._asked.of_token(call.params["token"])
        return self._show(self._asked.follow_up(asked, self._draft(call)))

    def _edit_answer(self, call: Call) -> Json:
        if self._hooks.known(call):
            return self._hooks.edit(call, self._draft(call))
        asked = self._asked.of_token(call.params["token"])
        return self._show(self._asked.edit(asked, call.params["message"], self._draft(call)))
