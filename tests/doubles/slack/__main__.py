"""Run the double in a process of its own: `python -m tests.doubles.slack PORT_FILE`."""

from __future__ import annotations

from tests.doubles.control import run
from tests.doubles.slack.control import SlackControl
from tests.doubles.slack.rules import Rules
from tests.doubles.slack.server import SlackServer


def make(generous: bool) -> SlackControl:
    """Make the double with what drives it."""
    rules = Rules(tiered=not generous, spaced=not generous)
    return SlackControl(SlackServer(rules=rules))


if __name__ == "__main__":
    run("Slack", make)
