"""Incoming webhooks: made by a bot with Manage Webhooks, and posting under any name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.doubles.discord.payloads import message_json, user_json
from tests.doubles.discord.permissions import require
from tests.doubles.discord.platform import Draft, Platform
from tests.doubles.discord.refusals import Faulty, Json, Refusal
from tests.doubles.discord.rest import Call
from tests.doubles.discord.state import TEXT, Channel, Message, Webhook
from tests.doubles.facts import Code, Discord

FORBIDDEN = ("clyde", "discord")
RESERVED = ("everyone", "here")


class Hooks:
    """What the API does with webhooks; a channel's threads share them."""

    def __init__(self, platform: Platform, base: Callable[[], str]) -> None:
        self._platform, self._world, self._base = platform, platform.world, base

    def listed(self, channel: Channel) -> list[Json]:
        """Return a channel's webhooks, with the tokens of the bot's own."""
        require(self._world, channel, self._world.bot.id, "manage_webhooks")
        return [self.json(hook) for hook in self._in(channel)]

    def make(self, channel: Channel, body: Json) -> Json:
        """Make one, at most fifteen a channel."""
        require(self._world, channel, self._world.bot.id, "manage_webhooks")
        if channel.is_thread:
            raise Refusal(Code.NOT_IN_SUCH_A_CHANNEL)
        _check_name("name", body.get("name"))
        if len(self._in(channel)) >= Discord.WEBHOOKS:
            raise Refusal(Code.TOO_MANY_WEBHOOKS)
        made = self._world.add_webhook(channel.id, body["name"], self._world.bot.id)
        return self.json(made)

    def known(self, call: Call) -> bool:
        """Return whether a request is for a webhook, not an interaction's."""
        return call.params["app"] != self._world.bot.id

    def execute(self, call: Call, draft: Draft) -> Json | None:
        """Post under the name that the request chooses."""
        hook = self._found(call)
        channel = self._place(hook, call)
        name = draft.body.get("username") or hook.name
        _check_name("username", name)
        message = self._platform.post_by(hook, channel, name, draft)
        waits = call.query.get("wait", "").lower() in ("1", "true")
        return self._show(message) if waits else None

    def edit(self, call: Call, draft: Draft) -> Json:
        """Edit a message of its own."""
        return self._show(self._platform.edit(self._own(call), call.params["app"], draft))

    def delete(self, call: Call) -> None:
        """Delete a message of its own."""
        self._platform.delete(self._own(call), call.params["app"])

    def read(self, call: Call) -> Json:
        """Show a message of its own."""
        return self._show(self._own(call))

    def json(self, hook: Webhook) -> Json:
        """Show a webhook; the token only of those that the bot made."""
        own = hook.owner == self._world.bot.id
        return {
            "id": hook.id,
            "type": 1,
            "channel_id": hook.channel_id,
            "guild_id": self._world.channel(hook.channel_id).guild_id,
            "name": hook.name,
            "avatar": None,
            "user": user_json(self._world.user(hook.owner)),
            "application_id": hook.owner if own else None,
            **({"token": hook.token} if own else {}),
        }

    # --- inside -----------------------------------------------------------------------

    def _in(self, channel: Channel) -> list[Webhook]:
        return [hook for hook in self._world.webhooks.values() if hook.channel_id == channel.id]

    def _found(self, call: Call) -> Webhook:
        hook = self._world.webhooks.get(call.params["app"])
        if hook is None:
            raise Refusal(Code.UNKNOWN_WEBHOOK)
        if hook.token != call.params["token"]:
            raise Refusal(Code.INVALID_TOKEN)
        return hook

    def _place(self, hook: Webhook, call: Call) -> Channel:
        thread = call.query.get("thread_id")
        channel = self._world.channel(thread or hook.channel_id)
        if thread and channel.parent_id != hook.channel_id:
            raise Refusal(Code.UNKNOWN_CHANNEL)
        assert thread or channel.type == TEXT
        return channel

    def _own(self, call: Call) -> Message:
        hook = self._found(call)
        message = self._world.message(self._place(hook, call).id, call.params["message"])
        if message.author_id != hook.id:
            raise Refusal(Code.UNKNOWN_MESSAGE)
        return message

    def _show(self, message: Message) -> Json:
        return message_json(self._world, message, self._base())


def _check_name(field: str, name: Any) -> None:
    faulty = Faulty()
    faulty.length(field, name, Discord.WEBHOOK_NAME, 1)
    said = name.casefold() if isinstance(name, str) else ""
    for word in FORBIDDEN:
        if word in said:
            text = f'Username cannot contain "{word}"'
            faulty.add(field, "USERNAME_INVALID_CONTAINS", text)
    if said in RESERVED:
        faulty.add(field, "USERNAME_INVALID", f'Username cannot be "{said}"')
    faulty.check()
