"""Slack on loopback: Web API, Socket Mode and signed HTTP, strict, scriptable; for slack-bolt.

```python
async with SlackServer() as slack:
    # point the bot at slack.api_url with slack.bot_token and slack.app_token, then:
    await slack.socket.until_connected()
    asked = await slack.slash("ada", '/debate start "Cats"')   # acknowledged within 3 s
    await asked.said("Cats")                  # what only ada sees, by response_url or ephemeral
    root = slack.messages()[0]                # channel `slack.channel` unless told otherwise
    vote = slack.replies(root.ts)[-1]
    await slack.react("ben", vote.ts, "large_blue_circle")
    assert slack.holders(vote.ts, "large_blue_circle") == {"ben"}
    await slack.press("ada", root.ts, "Status"); slack.archive(); slack.kick_bot()
    slack.fail(drop("after"), "chat.postMessage")              # stored, the answer lost
    await slack.socket.refresh(); slack.advance(1800)
    lounge = slack.add_team("bay")             # another workspace, which installs by OAuth:
    back = slack.oauth.approve(authorize_url, "T0BAY"); slack.uninstall("T0BAY")
    assert slack.violations == [] and "secret" not in slack.sent_text
```
Users are olga (an admin), ada, ben and cleo; `add_user("robo", bot=True)` adds others. It holds no
code of the engine, so that it can be the oracle of a test. In a process of its own it
is driven with `Remote`.
"""

from __future__ import annotations

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
