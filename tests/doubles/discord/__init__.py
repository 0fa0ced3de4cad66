"""Discord on loopback: HTTP and gateway, strict, scriptable; for the real discord.py.

Users are olga (owner of the server), ada, ben and cleo. It holds no code of the engine, so that it
can be the oracle of a test. In a process of its own it is driven with `Remote`.
"""

from tests.doubles.discord.interactions import (
    DidNotRespondError as DidNotRespondError,
    Interaction as Interaction,
)
from tests.doubles.discord.platform import Rules as Rules
from tests.doubles.discord.remote import Remote as Remote
from tests.doubles.discord.rest import Rate as Rate, Rates as Rates
from tests.doubles.discord.server import (
    DiscordServer as DiscordServer,
    NotOfferedError as NotOfferedError,
)
from tests.doubles.discord.state import Refusal as Refusal
from tests.doubles.facts import Code as Code
from tests.doubles.faults import (
    Fault as Fault,
    delay as delay,
    denied as denied,
    drop as drop,
    garbage as garbage,
    hang as hang,
    limited as limited,
    status as status,
)
