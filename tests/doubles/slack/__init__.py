"""Slack on loopback: Web API, Socket Mode and signed HTTP, strict, scriptable; for slack-bolt.

Users are olga (an admin), ada, ben and cleo. It holds no code of the engine, so that it can be the
oracle of a test. In a process of its own it is driven with `Remote`.
"""

from tests.doubles.faults import (
    Fault as Fault,
    delay as delay,
    drop as drop,
    garbage as garbage,
    hang as hang,
    limited as limited,
    page as page,
    refused as refused,
    status as status,
)
from tests.doubles.slack.deliveries import DidNotRespondError as DidNotRespondError
from tests.doubles.slack.remote import Remote as Remote
from tests.doubles.slack.server import SlackServer as SlackServer
from tests.doubles.slack.state import Asked as Asked, Refusal as Refusal, Rules as Rules
