"""The addresses that Slack and browsers ask for."""

from __future__ import annotations

from adapters import site
from adapters.slack import texts

EVENTS_PATH = "/slack/events"
INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"


class Site(site.Site):
    """Where Slack's requests and browsers are answered."""

    taken = texts.PORT_TAKEN
