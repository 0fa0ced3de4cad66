"""The app's manifest, with the minimum scopes; Slack creates the app from it."""

from __future__ import annotations

import json
from typing import Any, Literal

from adapters.slack.client import COMMAND, DEBATE_THIS

EVENTS_PATH = "/slack/events"
INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"
NAME = "Rostrum"
NO_ADDRESS = "https://rostrum.example.com"
# What each scope is for; docs/slack.md says the same in a table.
SCOPES = {
    "commands": "the slash command",
    "chat:write": "debates",
    "chat:write.customize": "a name and a face of its own for each side",
    "reactions:read": "votes",
    "reactions:write": "one reaction for each option of a vote",
    "files:write": "exports and pictures",
    "users:read": "who is an admin, who a bot, and in which language",
    "channels:history": "to look, in Rostrum's own threads, whether a message in doubt was stored, "
    "and what a person who argues a side wrote",
    "groups:history": "the same in private channels",
    "channels:read": "to see that Rostrum is in a channel before a debate starts there",
    "groups:read": "the same of private channels",
}
OPTIONAL = frozenset({"chat:write.customize"})  # debates go on without it
PURPOSE = (
    "Rostrum holds debates between AI models in a thread: a blind jury of other models scores "
    "them, and people vote. It asks for channels:history and groups:history only to look in its "
    "own threads whether a message whose sending was in doubt is there, so that nothing is posted "
    "twice; without them such a message is left alone and noted. Where a person has agreed to "
    "argue a side, it also reads what that person writes in the debate's thread for their turns."
)
EVENTS = (
    "app_home_opened",
    "app_uninstalled",
    "reaction_added",
    "reaction_removed",
    "tokens_revoked",
)

Json = dict[str, Any]


SHORTCUT = {
    "name": "Debate this",
    "type": "message",
    "callback_id": DEBATE_THIS,
    "description": "Hold a debate between AI models about this message",
}


def manifest(
    mode: Literal["socket", "http"],
    name: str = NAME,
    address: str = NO_ADDRESS,
    *,
    oauth: bool = False,
) -> Json:
    """Return the manifest; `address` is where Slack and browsers find Rostrum.

    It is needed in HTTP mode, and for installation by `oauth`.
    """
    socket, address = mode == "socket", address.rstrip("/")
    url = {} if socket else {"url": f"{address}{EVENTS_PATH}"}
    redirect = {"redirect_urls": [f"{address}{REDIRECT_PATH}"]} if oauth else {}
    request = {"request_url": url["url"]} if url else {}
    command = {
        "command": COMMAND,
        "description": "Hold a debate between AI models",
        "usage_hint": 'start "topic" format=classic vote=30m',
        "should_escape": True,
    }
    return {
        "display_information": {
            "name": name,
            "description": "Debates between AI models, judged by a blind jury and by you",
            "long_description": PURPOSE,
        },
        "features": {
            "bot_user": {"display_name": name, "always_online": True},
            # Exports are sent there; Slack refuses them if the tab is off.
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": True,
            },
            "slash_commands": [command | url],
            "shortcuts": [SHORTCUT],
        },
        "oauth_config": redirect | {"scopes": {"bot": list(SCOPES)}},
        "settings": {
            "event_subscriptions": request | {"bot_events": list(EVENTS)},
            "interactivity": {"is_enabled": True} | request,
            "socket_mode_enabled": socket,
            "org_deploy_enabled": False,
            "token_rotation_enabled": False,
        },
    }


def to_json(made: Json) -> str:
    """Return a manifest as JSON to paste."""
    return json.dumps(made, indent=2, ensure_ascii=False)
