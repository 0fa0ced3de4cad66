"""A process that stood still on Slack starts nothing of what people have repeated by then."""

from __future__ import annotations

import asyncio
import time

import pytest

from adapters.slack import answering
from tests.doubles.slack import DidNotRespondError, Rules, SlackServer
from tests.scenario.slack_stage import SlackStage

TEA = "/debate start Tea beats coffee"


@pytest.mark.parametrize("http", [False, True])
async def test_a_command_that_slack_gave_up_starts_no_debate(
    database_url: str, monkeypatch: pytest.MonkeyPatch, http: bool
) -> None:
    monkeypatch.setattr(answering, "WAKING_SECONDS", 2.0)
    async with SlackServer(rules=Rules.generous()) as slack:
        stage = SlackStage(database_url, slack, http=http)
        async with stage.process() as app:
            asking = asyncio.create_task(slack.slash("ada", TEA))
            await asyncio.sleep(0)
            time.sleep(answering.GIVEN_UP_SECONDS + 0.2)  # noqa: ASYNC251 - what it is about
            with pytest.raises(DidNotRespondError):
                await asking
            await asyncio.sleep(answering.WAKING_SECONDS)
            assert await app.store.debates.recent(limit=1) == []
            await (await slack.slash("ada", TEA)).said()
            assert len(await app.store.debates.recent(limit=9)) == 1
