"""What each method of the Web API does, and what it refuses."""

import json
from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass

from tests.doubles.facts import Slack
from tests.doubles.slack.deliveries import Deliveries, Socket
from tests.doubles.slack.state import (
    Channel,
    File,
    Interactions,
    Json,
    Message,
    Refusal,
    Rules,
    World,
    texts,
)
from tests.doubles.slack.web_api import Method, OAuth

# --- what Slack refuses of a message or a view: sizes and shapes, by its documentation ---

SIZES = {"section": Slack.SECTION, "header": Slack.HEADER}
KINDS = {
    "actions",
    "context",
    "divider",
    "header",
    "image",
    "input",
    "markdown",
    "rich_text",
    "section",
}


def check_message(text: str, blocks: list[Json], metadata: Json | None) -> None:
    """Refuse a message that Slack would refuse, or cut or split."""
    if not text and not blocks:
        raise Refusal("no_text")
    if len(text) > Slack.TEXT:
        raise Refusal("msg_too_long")
    if len(text) > Slack.SPLIT_TEXT:
        raise Refusal("msg_too_long", detail="Slack would split this text")
    check_blocks(blocks, Slack.BLOCKS)
    together = len(text) + sum(len(t) for t in texts(blocks))
    if together > Slack.TOGETHER:
        raise Refusal("msg_blocks_too_long")
    if metadata is not None and not {"event_type", "event_payload"} <= metadata.keys():
        raise Refusal("invalid_metadata_format")


def check_blocks(blocks: list[Json], most: int) -> None:
    """Refuse blocks that are too many, too long or misshapen."""
    if len(blocks) > most:
        raise Refusal("invalid_blocks")
    if sum(len(b.get("text", "")) for b in blocks if b.get("type") == "markdown") > Slack.MARKDOWN:
        raise Refusal("msg_blocks_too_long")
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    _must(len(ids) == len(set(ids)), "a block_id is used twice")
    for block in blocks:
        _check_block(block)


def check_view(view: Json) -> None:
    """Refuse a view that is too large or misshapen."""
    if len(json.dumps(view).encode()) > Slack.VIEW_BYTES:
        raise Refusal("view_too_large")
    _must(view.get("type") in ("modal", "home"), "a view is a modal or home")
    for name in ("title", "submit", "close"):
        if name in view:
            _fits(view[name]["text"], Slack.VIEW_TITLE, name)
    _must(len(view.get("private_metadata", "")) <= Slack.METADATA, "private_metadata is too long")
    check_blocks(view.get("blocks", []), Slack.VIEW_BLOCKS)


def _check_block(block: Json) -> None:
    kind = block.get("type")
    _must(kind in KINDS, f"there is no block {kind}")
    if kind == "markdown":
        _must(bool(block.get("text", "").strip()), "markdown needs text")
    if kind in SIZES:
        _fits(block.get("text", {}).get("text", ""), SIZES[kind], kind)
    if kind == "context":
        _fits(block["elements"], Slack.CONTEXT_ELEMENTS, "context")
        _must(all(e.get("text") for e in block["elements"]), "an element needs text")
    if kind == "actions":
        _fits(block["elements"], Slack.ACTION_ELEMENTS, "actions")
        _check_buttons(block["elements"])
    if kind == "input":
        _fits(block["label"]["text"], Slack.LABEL, "label")
        hint = block.get("hint", {"text": "-"})["text"]
        _fits(hint, Slack.LABEL, "a hint")
        _check_element(block["element"])


def _check_buttons(elements: Iterable[Json]) -> None:
    ids = [element.get("action_id", "") for element in elements]
    _must(len(ids) == len(set(ids)), "an action_id is used twice")
    for element in elements:
        if element["type"] == "static_select":
            _check_element(element)
            continue
        _fits(element["text"]["text"], Slack.BUTTON, "a button")
        _fits(element["action_id"], Slack.ACTION_ID, "an action_id")
        _must(
            len(element.get("value", "")) <= Slack.BUTTON_VALUE,
            "a value is too long",
        )


def options_of(element: Json) -> list[Json]:
    """Return what a list offers, in groups or not."""
    groups = element.get("option_groups")
    if groups is None:
        return list(element.get("options", ()))
    return [option for group in groups for option in group["options"]]


def _check_element(element: Json) -> None:
    _fits(element["action_id"], Slack.ACTION_ID, "an action_id")
    inside = element.get("placeholder", {"text": "-"})["text"]
    _fits(inside, Slack.PLACEHOLDER, "a placeholder")
    if element["type"] == "plain_text_input":
        _must(element.get("initial_value") != "", "an initial value has text")
        _must(element.get("max_length", 1) <= Slack.INPUT, f"max_length is up to {Slack.INPUT}")
    if "static_select" in element["type"]:
        _check_list(element)


def _check_list(element: Json) -> None:
    _must(("options" in element) != ("option_groups" in element), "options or groups of them")
    groups = element.get("option_groups", ())
    _must(len(groups) <= Slack.OPTIONS, f"a select has up to {Slack.OPTIONS} groups")
    for group in groups:
        _fits(group["label"]["text"], Slack.OPTION, "a group's label")
    for options in [group["options"] for group in groups] or [element["options"]]:
        _fits(options, Slack.OPTIONS, "a select")
    for option in options_of(element):
        _fits(option["text"]["text"], Slack.OPTION, "an option")
        _fits(option["value"], Slack.OPTION_VALUE, "an option's value")
    shown = [element.get("initial_option"), *element.get("initial_options", ())]
    offered = options_of(element)
    _must(all(one in offered for one in shown if one), "an initial option is one of the options")


def _fits(value: Sized, most: int, what: str) -> None:
    _must(0 < len(value) <= most, f"{what} has 1 to {most} characters or parts")


def _must(held: bool, why: str) -> None:
    if not held:
        raise Refusal("invalid_blocks", response_metadata={"messages": [why]})


NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
EMOJIS = frozenset(("a", "b", "large_blue_circle", "red_circle", *NUMBERS, "handshake"))
EMOJIS |= {"no_entry_sign", "+1", "-1", "shrug", "scales", "mag", "white_check_mark", "boom"}
ALIASES = {"thumbsup": "+1", "thumbsdown": "-1"}


@dataclass
class Methods:
    """The methods, on what the double remembers."""

    world: World
    rules: Rules
    socket: Socket
    deliveries: Deliveries
    interactions: Interactions
    oauth: OAuth
    origin: Callable[[], str]

    def table(self) -> dict[str, Method]:
        return {
            "apps.connections.open": lambda _: {"url": self.socket.ticket()},
            "auth.test": lambda _: self._who(),
            "chat.delete": self._delete,
            "chat.postEphemeral": self._post_ephemeral,
            "chat.postMessage": self._post,
            "chat.update": self._update,
            "conversations.history": self._history,
            "conversations.info": self._info,
            "conversations.replies": self._replies,
            "files.completeUploadExternal": self._complete,
            "files.delete": self._delete_file,
            "files.getUploadURLExternal": self._upload_url,
            "oauth.v2.access": self.oauth.access,
            "reactions.add": self._react,
            "reactions.get": self._reactions,
            "reactions.remove": self._unreact,
            "usergroups.users.list": self._group,
            "users.conversations": self._conversations,
            "users.info": self._user,
            "views.open": self._open,
            "views.publish": self._publish,
        }

    def _post(self, args: Json) -> Json:
        if args["channel"].startswith("U") and not self.rules.messages_tab:
            raise Refusal("messages_tab_disabled")
        channel = self._writable(args["channel"])
        text, blocks = str(args.get("text") or ""), args.get("blocks") or []
        check_message(text, blocks, args.get("metadata"))
        root = args.get("thread_ts")
        if root is not None:
            found = channel.messages.get(root)
            if found is None or found.deleted:
                raise Refusal("thread_not_found")
            if found.thread_ts not in (None, root):
                raise Refusal("cannot_reply_to_message")
        elif channel.thread_only:
            raise Refusal("restricted_action_thread_only_channel")
        posted = Message(channel.id, self.world.new_ts(), self._me, text, blocks)
        posted.metadata, posted.thread_ts = args.get("metadata"), root
        if "chat:write.customize" in self.rules.scopes:  # without it Slack ignores them
            posted.username, posted.icon = args.get("username", ""), args.get("icon_emoji", "")
        posted.broadcast = root is not None and bool(args.get("reply_broadcast"))
        channel.messages[posted.ts] = posted
        if root is not None:
            channel.messages[root].thread_ts = root
        return {"channel": channel.id, "ts": posted.ts, "message": posted.json()}

    def _update(self, args: Json) -> Json:
        self._writable(args["channel"])
        message = self.world.message(args["channel"], args["ts"])
        if message.user != self._me:
            raise Refusal("cant_update_message")
        text, blocks = str(args.get("text") or ""), args.get("blocks") or []
        check_message(text, blocks, args.get("metadata"))
        message.history.append(message.text)
        message.body, message.blocks = text, blocks
        message.metadata = args.get("metadata", message.metadata)
        message.edited = self.world.clock.now()
        return {"channel": message.channel, "ts": message.ts, "text": text}

    def _delete(self, args: Json) -> Json:
        self._writable(args["channel"])
        message = self.world.message(args["channel"], args["ts"])
        if message.user != self._me:
            raise Refusal("cant_delete_message")
        message.deleted = True
        return {"channel": message.channel, "ts": message.ts}

    def _delete_file(self, args: Json) -> Json:
        if args["file"] not in self.world.files:
            raise Refusal("file_not_found")
        del self.world.files[args["file"]]
        for channel in self.world.channels.values():
            for message in channel.messages.values():
                message.deleted |= message.files == [args["file"]]
        return {}

    def _post_ephemeral(self, args: Json) -> Json:
        channel = self._writable(args["channel"])
        user = self.world.user(args["user"])
        if user.id not in channel.members:
            raise Refusal("user_not_in_channel")
        text, blocks = str(args.get("text") or ""), args.get("blocks") or []
        check_message(text, blocks, None)
        shown = Message(channel.id, self.world.new_ts(), self._me, text, blocks, to=user.id)
        self.world.ephemeral.append(shown)
        return {"message_ts": shown.ts}

    def _history(self, args: Json) -> Json:
        channel = self._readable(args["channel"])
        top = [m for m in channel.messages.values() if m.thread_ts in (None, m.ts) or m.broadcast]
        newest_first = sorted(top, key=lambda m: float(m.ts), reverse=True)
        return self._page([m for m in newest_first if not m.deleted], args)

    def _replies(self, args: Json) -> Json:
        channel = self._readable(args["channel"])
        root = channel.messages.get(args["ts"])
        if root is None:
            raise Refusal("thread_not_found")
        inside = [m for m in channel.messages.values() if m.thread_ts == root.ts and m != root]
        in_order = sorted(inside, key=lambda m: float(m.ts))
        return self._page([m for m in in_order if not m.deleted], args, first=root)

    def _page(self, found: list[Message], args: Json, first: Message | None = None) -> Json:
        oldest = float(args.get("oldest") or 0)
        found = [m for m in found if float(m.ts) > oldest]
        size = min(int(args.get("limit") or 100), self.rules.page)
        start = int(args.get("cursor") or 0)
        metadata = str(args.get("include_all_metadata", "")).casefold() in ("1", "true")
        page = found[start : start + size]
        if first is not None and start == 0:
            page = [first, *page]
        more = start + size < len(found)
        cursor = {"next_cursor": str(start + size) if more else ""}
        shown = [message.json(metadata=metadata) for message in page]
        return {"messages": shown, "has_more": more, "response_metadata": cursor}

    def _react(self, args: Json) -> Json:
        self._writable(args["channel"])
        message = self.world.message(args["channel"], args["timestamp"])
        name = canonical(args["name"])
        if name not in EMOJIS:
            raise Refusal("invalid_name")
        return self.react(message, self._me, name)

    def _unreact(self, args: Json) -> Json:
        message = self.world.message(args["channel"], args["timestamp"])
        return self.unreact(message, self._me, canonical(args["name"]))

    def react(self, message: Message, who: str, name: str) -> Json:
        held = message.reactions.setdefault(name, {})
        if who in held:
            raise Refusal("already_reacted")
        held[who] = None
        self.deliveries.tell(reaction("reaction_added", who, name, message), message.channel)
        return {}

    def unreact(self, message: Message, who: str, name: str) -> Json:
        if who not in message.reactions.get(name, {}):
            raise Refusal("no_reaction")
        del message.reactions[name][who]
        self.deliveries.tell(reaction("reaction_removed", who, name, message), message.channel)
        return {}

    def _reactions(self, args: Json) -> Json:
        self._readable(args["channel"])
        message = self.world.message(args["channel"], args["timestamp"])
        shown = message.json()
        if str(args.get("full", "")).casefold() not in ("1", "true"):
            for held in shown.get("reactions", ()):
                del held["users"][2:]
        return {"type": "message", "channel": message.channel, "message": shown}

    def _who(self) -> Json:
        me = self.world.caller
        return {
            "url": f"{self.origin()}/",
            "team": me.name,
            "team_id": me.id,
            "user": self.world.users[me.bot_user].name,
            "user_id": me.bot_user,
            "bot_id": me.bot_id,
        }

    def _user(self, args: Json) -> Json:
        user = self.world.user(args["user"])
        if user.team != self.world.caller.id and not self._meets(user.id):
            raise Refusal("user_not_found")
        shown: Json = {
            "id": user.id,
            "team_id": user.team,
            "name": user.name,
            "is_bot": user.bot,
            "is_admin": user.admin,
            "is_owner": False,
        }
        if str(args.get("include_locale", "")).casefold() in ("1", "true"):
            shown["locale"] = user.locale
        return {"user": shown}

    def _group(self, args: Json) -> Json:
        if args["usergroup"] not in self.world.groups:
            raise Refusal("no_such_subteam")
        members = self.world.groups[args["usergroup"]]
        return {"users": [self.world.user(one).id for one in members]}

    def _conversations(self, args: Json) -> Json:
        inside = [c for c in self.world.channels.values() if self._me in c.members]
        shown = [self._shown(c.id) for c in inside if not c.id.startswith("D")]
        return {"channels": shown, "response_metadata": {"next_cursor": ""}}

    def _info(self, args: Json) -> Json:
        """Show a channel, for which another scope is needed where it is private."""
        channel = self.world.channel(args["channel"])
        needed = "groups:read" if channel.private else "channels:read"
        if needed not in self.rules.scopes:
            raise Refusal("missing_scope", needed=needed, provided=",".join(self.rules.scopes))
        return {"channel": self._shown(channel.id)}

    def _shown(self, ref: str) -> Json:
        channel = self.world.channel(ref)
        return {
            "id": channel.id,
            "name": channel.name,
            "is_member": self._me in channel.members,
            "is_archived": channel.archived,
            "is_private": channel.private,
            "is_thread_only": channel.thread_only,
        }

    def _open(self, args: Json) -> Json:
        check_view(args["view"])
        return self.interactions.open(args["trigger_id"], args["view"])

    def _publish(self, args: Json) -> Json:
        """Show a person their Home tab; with a `hash`, only in place of the view that has it."""
        check_view(args["view"])
        user = self.world.users.get(args["user_id"])
        if user is None or user.team != self.world.caller.id:
            raise Refusal("user_not_found")
        if args["view"]["type"] != "home":
            raise Refusal("invalid_arguments")
        shown = self.world.homes.get(user.id)
        if args.get("hash") and shown and args["hash"] != shown["hash"]:
            raise Refusal("hash_conflict")
        made = {"id": shown["id"] if shown else self.world.new_id("V"), "hash": self.world.new_ts()}
        self.world.homes[user.id] = args["view"] | made
        return {"view": self.world.homes[user.id]}

    def _upload_url(self, args: Json) -> Json:
        alt = str(args.get("alt_txt") or "")
        file = File(self.world.new_id("F"), args["filename"], int(args["length"]), alt)
        self.world.files[file.id] = file
        return {"upload_url": f"{self.origin()}/upload/{file.id}", "file_id": file.id}

    def _complete(self, args: Json) -> Json:
        for given in args["files"]:
            file = self.world.files.get(given["id"])
            if file is None or len(file.data) != file.length:
                raise Refusal("file_not_found")
            file.channel = args.get("channel_id")
            if file.channel is not None:
                channel = self._writable(file.channel)
                said = str(args.get("initial_comment") or "")
                message = Message(channel.id, self.world.new_ts(), self._me, said)
                message.thread_ts, message.files = args.get("thread_ts"), [file.id]
                channel.messages[message.ts] = message
        return {"files": [{"id": given["id"]} for given in args["files"]]}

    def _meets(self, user: str) -> bool:
        """Whether somebody of another workspace is in a channel that the caller's shares."""
        own = [c for c in self.world.channels.values() if c.team == self.world.caller.id]
        return any(user in channel.members for channel in own)

    @property
    def _me(self) -> str:
        return self.world.caller.bot_user

    def _writable(self, ref: str) -> Channel:
        channel = self.world.channel(ref)
        if channel.archived:
            raise Refusal("is_archived")
        return self._readable(channel.id)

    def _readable(self, ref: str) -> Channel:
        channel = self.world.channel(ref)
        if self._me not in channel.members:
            raise Refusal("not_in_channel")
        return channel


def canonical(name: str) -> str:
    """Return the one name of an emoji that has several."""
    return ALIASES.get(name, name)


def reaction(kind: str, user: str, name: str, message: Message) -> Json:
    """Return the event of a reaction; it does not say which thread the message is in."""
    item = {"type": "message", "channel": message.channel, "ts": message.ts}
    author = {} if message.username else {"item_user": message.user}
    return {"type": kind, "user": user, "reaction": name, "item": item, **author}
