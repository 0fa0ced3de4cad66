"""`rostrum run` as it is, but that it counts Slack's minutes as short as the double does."""

from __future__ import annotations

from functools import partial
from unittest.mock import patch

from adapters.slack.rest import Rest
from bot.cli import main
from tests.bench import SLACK_MINUTE

if __name__ == "__main__":
    with patch("bot.platforms.SlackRest", partial(Rest, minute=SLACK_MINUTE)):
        main()
