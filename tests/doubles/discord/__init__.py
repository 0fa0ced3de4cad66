"""Discord on loopback: HTTP and gateway, strict, scriptable; for the real discord.py.

```python
async with DiscordServer(rates=Rates.generous()) as discord:
    # point the bot at discord.api_url with discord.token, then:
    await discord.gateway.until_connected()
    asked = discord.slash("ada", "debate start", {"topic": "Cats"}, locale="de")
    await asked.answered()                    # within 3 s, or DidNotRespondError
    assert asked.ephemeral and "Cats" in asked.text
    thread = discord.threads()[0]             # channel `discord.channel` unless told otherwise
    vote = discord.messages(thread.id)[-1]
    discord.react("ben", vote.id, "🔵")
    assert discord.holders(vote.id, "🔵") == {"ben"}
    discord.press("ada", vote.id, "status"); discord.archive(thread.id); discord.kick_bot()
    discord.fail(drop("after"), "POST", "/channels/*/messages")   # stored, the answer lost
    discord.gateway.reconnect(); discord.advance(900)
    assert discord.violations == [] and "secret" not in discord.sent_text
```
Users are olga (owner of the server), ada, ben and cleo; `add_user("robo", bot=True)` adds
others. It holds no code of the engine, so that it can be the oracle of a test. In a process of
its own it is driven with `Remote`.
"""

from __future__ import annotations

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
