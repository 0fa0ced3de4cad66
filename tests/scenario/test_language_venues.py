"""Debates in Turkish and Chinese, as members of Discord and Slack read them."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from engine.values.language import speaking
from engine.words.cards import REVEAL
from engine.words.translation import say
from tests.kit import until
from tests.scenario.chat_stage import Chat
from tests.scenario.discord_stage import voting
from tests.scenario.test_languages import ENGLISH, NAMES

OPTIONS: dict[str, dict[str, Any]] = {"audited": {"turns": 2}, "structured": {}}
TOPICS = {"tr": "Çay mı, kahve mi?", "zh": "茶好还是咖啡好？"}


@pytest.mark.parametrize(("format", "language"), [*product(OPTIONS, TOPICS)])
async def test_everything_in_a_thread_is_in_the_debates_language(
    chat: Chat, format: str, language: str
) -> None:
    with speaking(language):
        reveal = say(REVEAL)
    async with chat.stage.process() as app:
        await chat.start(
            topic=TOPICS[language], language=language, format=format, **OPTIONS[format]
        )
        debate = await voting(app)
        await app.service.close_vote(debate.id)
        await chat.ended(app)
        await until(lambda: any(m.title == reveal for m in chat.thread()))
    shown = [f"{m.title}\n{m.text}" for m in chat.thread()]
    assert len(shown) > 5
    for text in (chat.card, *shown):
        assert set(ENGLISH.findall(NAMES.sub("", text))) == set(), text
