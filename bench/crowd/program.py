"""`rostrum run` as it is, but that it counts Slack's minutes as short as the double does."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from unittest.mock import patch

from adapters.slack.rest import SlackRest
from adapters.slack.venue import LIMITS, SlackVenue
from bench.crowd import SLACK_MINUTE
from bot.cli import main

MORE = 0.5  # seconds: an event travels as long as in a real minute

if __name__ == "__main__":
    limits = replace(
        LIMITS, redelivery_seconds=LIMITS.redelivery_seconds * SLACK_MINUTE / 60 + MORE
    )
    with (
        patch("bot.serve.platforms.SlackRest", partial(SlackRest, minute=SLACK_MINUTE)),
        patch("bot.serve.platforms.SlackVenue", partial(SlackVenue, limits=limits)),
    ):
        main()
