"""What Discord and Slack allow, answer and keep: one table for their doubles and for tests.

The doubles enforce it; tests of the adapters name it. From the platforms' documentation, the source
of discord.py 2.7 and slack_sdk 3.47, and measurements. Where a number is folklore, it says so.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Any


class Discord:
    """Sizes in characters (UTF-16 units are the stricter count), times in seconds."""

    CONTENT = 2000
    EMBEDS, EMBED_TOTAL = 10, 6000
    TITLE, DESCRIPTION, FOOTER, AUTHOR = 256, 4096, 2048, 256
    FIELDS, FIELD_NAME, FIELD_VALUE = 25, 256, 1024
    FILE_BYTES = 10 * 2**20
    ROWS, BUTTONS, CUSTOM_ID, BUTTON_LABEL, SELECT_OPTIONS = 5, 5, 100, 80, 25
    MODAL_TITLE, MODAL_ROWS, INPUT_VALUE, INPUT_LABEL, PLACEHOLDER = 45, 5, 4000, 45, 100
    COMMANDS, OPTIONS, CHOICES, CHOICE, COMMAND_TOTAL = 100, 25, 25, 100, 8000
    COMMAND_DESCRIPTION = 100
    THREAD_NAME, ACTIVE_THREADS = 100, 1000
    AUTO_ARCHIVE = (60, 1440, 4320, 10080)  # minutes
    NONCE, NONCE_SECONDS = 25, 300.0
    EMOJIS = 20  # different ones on a message
    WEBHOOKS = 15  # in a channel
    WEBHOOK_NAME = 80

    ANSWER_SECONDS, TOKEN_SECONDS = 3.0, 900.0  # of an interaction
    OLD_AFTER, OLD_EDITS = 3600.0, 3  # an older message is edited a few times only: folklore
    REACTIONS_A_PAGE = 100
    RESUME_SECONDS, HEARTBEAT_SECONDS = 180.0, 41.25

    # Requests and seconds. The first two are folklore.
    POSTING, REACTING, ANSWERING, ASKING = (5, 5.0), (1, 0.25), (5, 2.0), (50, 1.0)


class Slack:
    """Sizes in characters, times in seconds."""

    TEXT, SPLIT_TEXT = 40_000, 4_000
    BLOCKS, VIEW_BLOCKS, VIEW_BYTES = 50, 100, 250_000
    MARKDOWN, TOGETHER = 12_000, 13_200  # the second is measured
    SECTION, HEADER = 3000, 150
    CONTEXT_ELEMENTS, ACTION_ELEMENTS = 10, 25
    LABEL, VIEW_TITLE, METADATA, INPUT = 2000, 24, 3000, 3000
    BUTTON, ACTION_ID, BUTTON_VALUE = 75, 255, 2000
    PLACEHOLDER, OPTIONS, OPTION, OPTION_VALUE = 150, 100, 75, 150
    APP_DESCRIPTION = (175, 4000)  # of a manifest: at least, at most

    ACK_SECONDS, TRIGGER_SECONDS = 3.0, 3.0
    RETRIES = (0.0, 60.0, 300.0)  # when an event is told again
    RESPONSE_USES, RESPONSE_SECONDS = 5, 1800.0  # of a response_url
    PAGE = 15  # objects of a history, for apps outside the Marketplace
    POST_GAP = 1.0  # between posts in a channel

    TIERS = {1: 1, 2: 20, 3: 50, 4: 100}  # noqa: RUF012 - requests a minute
    METHODS = {  # noqa: RUF012 - their tiers
        "apps.connections.open": 1,
        "auth.test": 4,
        "chat.delete": 3,
        "chat.update": 3,
        "files.delete": 3,
        "conversations.history": 3,
        "conversations.info": 3,
        "conversations.replies": 3,
        "files.completeUploadExternal": 4,
        "files.getUploadURLExternal": 4,
        "reactions.add": 3,
        "reactions.get": 3,
        "reactions.remove": 2,
        "usergroups.users.list": 2,
        "users.conversations": 3,
        "users.info": 4,
        "views.open": 4,
        "views.publish": 4,
    }
    READS = (".conversations", ".get", ".history", ".info", ".list", ".replies")
    SCOPES = (
        "commands",
        "chat:write",
        "chat:write.customize",
        "reactions:read",
        "reactions:write",
        "files:write",
        "users:read",
        "channels:read",
        "groups:read",
        "channels:history",
        "groups:history",
    )
    EVENTS = (
        "app_home_opened",
        "app_uninstalled",
        "reaction_added",
        "reaction_removed",
        "tokens_revoked",
    )


class Code(IntEnum):
    """Discord's JSON error codes, each with the HTTP status and the words that it comes with."""

    status: int
    said: str

    def __new__(cls, code: int, status: int = 400, said: str = "") -> Code:
        made = int.__new__(cls, code)
        made._value_ = code
        made.status, made.said = status, said
        return made

    NONE = 0, 404, "404: Not Found"
    UNKNOWN_CHANNEL = 10003, 404, "Unknown Channel"
    UNKNOWN_GUILD = 10004, 404, "Unknown Guild"
    UNKNOWN_MEMBER = 10007, 404, "Unknown Member"
    UNKNOWN_MESSAGE = 10008, 404, "Unknown Message"
    UNKNOWN_USER = 10013, 404, "Unknown User"
    UNKNOWN_EMOJI = 10014, 400, "Unknown Emoji"
    UNKNOWN_WEBHOOK = 10015, 404, "Unknown Webhook"
    UNKNOWN_INTERACTION = 10062, 404, "Unknown interaction"
    UNKNOWN_COMMAND = 10063, 404, "Unknown application command"
    TOO_MANY_WEBHOOKS = 30007, 400, "Maximum number of webhooks reached (15)"
    TOO_MANY_EMOJIS = 30010, 400, "Maximum number of reactions reached (20)"
    TOO_MANY_COMMANDS = 30032, 400, "Maximum number of application commands reached (100)."
    TOO_MANY_NEW_COMMANDS = (
        30034,
        400,
        "Max number of daily application command creates has been reached (200)",
    )
    TOO_OLD_TO_EDIT = (
        30046,
        429,
        "Maximum number of edits to messages older than 1 hour reached. Try again later.",
    )
    TOO_LARGE = 40005, 413, "Request entity too large"
    ALREADY_ACKNOWLEDGED = 40060, 400, "Interaction has already been acknowledged."
    MISSING_ACCESS = 50001, 403, "Missing Access"
    NOT_THE_AUTHOR = 50005, 403, "Cannot edit a message authored by another user"
    EMPTY_MESSAGE = 50006, 400, "Cannot send an empty message"
    NO_DIRECT_MESSAGES = 50007, 403, "Cannot send messages to this user"
    NOT_FOR_TEXT = 50008, 400, "Cannot send messages in a non-text channel"
    MISSING_PERMISSIONS = 50013, 403, "Missing Permissions"
    NOT_IN_DIRECT_MESSAGES = 50003, 400, "Cannot execute action on a DM channel"
    NOT_IN_SUCH_A_CHANNEL = 50024, 400, "Cannot execute action on this channel type"
    INVALID_TOKEN = 50027, 401, "Invalid Webhook Token"
    INVALID_FORM = 50035, 400, "Invalid Form Body"
    THREAD_ARCHIVED = 50083, 400, "Thread is archived"
    INVALID_JSON = 50109, 400, "The request body contains invalid JSON."
    THREAD_EXISTS = 160004, 400, "A thread has already been created for this message"
    THREAD_LOCKED = 160005, 403, "Thread is locked"
    TOO_MANY_THREADS = 160006, 400, "Maximum number of active threads reached"


# --- the references of posted messages, as each platform keeps them ---------------------

_SMALL_PRINT = re.compile(r"(?:^|[ ])#(\d+)(b?)(?: · ([\d.]+/\d+))? · (\w+)$", re.MULTILINE)


def in_small_print(text: str) -> str:
    """Return the reference `k7f2qz·3·1/2` that small print `#3 · 1/2 · k7f2qz` ends with."""
    found = _SMALL_PRINT.search(text)
    if found is None:
        return ""
    number, beside, piece, code = found.groups()
    return f"{code}{'gap' if beside else ''}·{number}·{piece or '1/1'}"


def on_discord(message: dict[str, Any]) -> str:
    """Return the reference in the footer or the last line of a message as Discord has it."""
    embeds = message.get("embeds") or [{}]
    footer = (embeds[0].get("footer") or {}).get("text") or ""
    return in_small_print(footer or message.get("content") or "")


def on_slack(metadata: dict[str, Any] | None) -> str:
    """Return the reference in a message's metadata."""
    return str(((metadata or {}).get("event_payload") or {}).get("reference", ""))
