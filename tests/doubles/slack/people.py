"""What people and admins do on the platform."""

from __future__ import annotations

import html
from typing import Any

from tests.doubles.listening import Listening
from tests.doubles.slack.checks import options_of
from tests.doubles.slack.deliveries import Deliveries
from tests.doubles.slack.interactions import Asked, Interactions
from tests.doubles.slack.methods import canonical, reaction
from tests.doubles.slack.refusals import Json, Refusal
from tests.doubles.slack.state import APP, TEAM, Channel, Message, World


class People(Listening):
    """Acts of people; users are named, messages by their ts."""

    world: World
    deliveries: Deliveries
    interactions: Interactions
    channel: Channel

    # --- reactions --------------------------------------------------------------------------

    async def react(self, user: str, ts: str, name: str, *, tone: int = 0) -> None:
        """React to a message; `tone` 2 to 6 is a skin tone."""
        message, who = self._message(ts), self.world.user(user).id
        named = canonical(name) + (f"::skin-tone-{tone}" if tone else "")
        held = message.reactions.setdefault(named, {})
        if who in held:
            raise Refusal("already_reacted")
        held[who] = None
        self.deliveries.tell(reaction("reaction_added", who, named, message), message.channel)

    async def unreact(self, user: str, ts: str, name: str, *, tone: int = 0) -> None:
        """Take a reaction back."""
        message, who = self._message(ts), self.world.user(user).id
        named = canonical(name) + (f"::skin-tone-{tone}" if tone else "")
        if who not in message.reactions.get(named, {}):
            raise Refusal("no_reaction")
        del message.reactions[named][who]
        self.deliveries.tell(reaction("reaction_removed", who, named, message), message.channel)

    # --- asking -----------------------------------------------------------------------------

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
        """Write a message as somebody, maybe in the thread of another."""
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
        payload = {
            "api_app_id": APP,
            "token": "old",
            "trigger_id": f"trigger-{asked.id}",
            "type": "block_actions",
            "user": {"id": who.id, "name": who.name, "team_id": who.team},
            "team": {"id": who.team, "domain": "hall"},
            "container": {"type": "view", "view_id": view["id"]},
            "view": view,
            "actions": [
                {"action_id": button["action_id"], "type": "button", "block_id": "b"}
                | {"action_ts": self.world.new_ts()}
            ],
        }
        return await self._ask("interactive", payload, asked)

    async def shortcut(self, user: str, ts: str, callback_id: str) -> Asked:
        """Choose a shortcut in the menu of a message."""
        message, who = self.world.find(ts), self.world.user(user)
        place = self._place(message.channel)
        asked = self.interactions.new(who.id, message.channel)
        payload = {
            **self._common(asked),
            "type": "message_action",
            "callback_id": callback_id,
            "action_ts": self.world.new_ts(),
            "user": {"id": who.id, "name": who.name, "team_id": who.team},
            "team": {"id": who.team, "domain": "hall"},
            "channel": {"id": place.id, "name": place.name},
            "message_ts": ts,
            "message": message.json(),
        }
        return await self._ask("interactive", payload, asked)

    async def press(self, user: str, ts: str, label: str) -> Asked:
        """Press a button of a message by its label."""
        message, who = self.world.find(ts), self.world.user(user)
        buttons = [b for block in message.blocks for b in block.get("elements", ())]
        button = next((b for b in buttons if _label(b) == label), None)
        assert button is not None, f"no button {label!r} among {[_label(b) for b in buttons]}"
        asked = self.interactions.new(who.id, message.channel)
        container = {"type": "message", "message_ts": ts, "channel_id": message.channel}
        acted = {key: button[key] for key in ("action_id", "value", "type") if key in button}
        payload = {
            **self._common(asked),
            "type": "block_actions",
            "user": {"id": who.id, "name": who.name, "team_id": who.team},
            "team": {"id": who.team, "domain": "hall"},
            "channel": {"id": message.channel, "name": self._place(message.channel).name},
            "container": container,
            "message": message.json(),
            "actions": [acted | {"block_id": "b", "action_ts": self.world.new_ts()}],
        }
        return await self._ask("interactive", payload, asked)

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
        payload = {
            **self._common(asked),
            "type": "block_actions",
            "user": {"id": who.id, "name": who.name, "team_id": who.team},
            "team": {"id": who.team, "domain": "hall"},
            "channel": {"id": message.channel, "name": self._place(message.channel).name},
            "container": seen | {"channel_id": message.channel},
            "actions": [acted | {"block_id": "b", "action_ts": self.world.new_ts()}],
        }
        return await self._ask("interactive", payload, asked)

    async def submit(self, asked: Asked, values: dict[str, Any]) -> Asked:
        """Send a view off with values by action id: a text, a choice, or a list of choices."""
        assert asked.view is not None, "there is no view"
        sent = self.interactions.new(asked.user, asked.channel)
        who = next(user for user in self.world.users.values() if user.id == asked.user)
        state = {
            block["block_id"]: {block["element"]["action_id"]: _entered(block["element"], values)}
            for block in asked.view["blocks"]
            if block["type"] == "input"
        }
        view = asked.view | {"state": {"values": state}, "app_id": APP, "team_id": who.team}
        payload = {
            "type": "view_submission",
            "api_app_id": APP,
            "token": "old",
            "trigger_id": f"trigger-{sent.id}",
            "user": {"id": who.id, "name": who.name, "team_id": who.team},
            "team": {"id": who.team, "domain": "hall"},
            "view": view,
        }
        return await self._ask("interactive", payload, sent)

    # --- admins -----------------------------------------------------------------------------

    def archive(self, channel: str | None = None) -> None:
        """Archive a channel."""
        place = self._place(channel)
        self.deliveries.tell({"type": "channel_archive", "channel": place.id}, place.id)
        place.archived = True

    def delete_channel(self, channel: str | None = None) -> None:
        """Delete a channel for good."""
        place = self._place(channel)
        self.deliveries.tell({"type": "channel_deleted", "channel": place.id}, place.id)
        del self.world.channels[place.id]

    def kick_bot(self, channel: str | None = None) -> None:
        """Remove the bot from a channel."""
        place = self._place(channel)
        bot = self.world.teams[place.team].bot_user
        event = {"type": "member_left_channel", "user": bot, "channel": place.id}
        self.deliveries.tell(event, place.id)
        place.members.discard(bot)

    def delete_message(self, ts: str) -> None:
        """Delete a message."""
        self.world.find(ts).deleted = True

    def uninstall(self, team: str = TEAM) -> None:
        """Remove the app from a workspace."""
        gone = self.world.teams[team]
        self.deliveries.tell_of(gone, {"type": "app_uninstalled"})
        gone.installed = False

    def revoke(self, team: str = TEAM) -> None:
        """Revoke the bot's token in a workspace."""
        gone = self.world.teams[team]
        tokens = {"bot": [gone.bot_user], "oauth": []}
        self.deliveries.tell_of(gone, {"type": "tokens_revoked", "tokens": tokens})
        gone.installed = False

    # --- inside -----------------------------------------------------------------------------

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
        """Return the first channel of a workspace."""
        return next(c for c in self.world.channels.values() if c.team == team)

    def _place(self, ref: str | None) -> Channel:
        return self.channel if ref is None else self.world.channels[ref]


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
