"""Run the double in a process of its own: `python -m tests.doubles.slack PORT_FILE`."""

from __future__ import annotations

from tests.doubles.remote import run
from tests.doubles.slack.remote import SlackControl
from tests.doubles.slack.server import SlackServer
from tests.doubles.slack.state import Rules


def make(generous: bool) -> SlackControl:
    """Make the double with what drives it."""
    rules = Rules(tiered=not generous, spaced=not generous)
    return SlackControl(SlackServer(rules=rules))


if __name__ == "__main__":
    run("Slack", make)
