"""In Chinese no word of Latin letters is left, but for names: what was never translated shows."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from adapters.terminal.render import plain
from engine.chat.answers import to_markdown
from engine.formats import FORMATS
from engine.values.language import speaking
from tests.contract.test_every_message import messages
from tests.unit.test_answers_languages import answers
from tests.unit.test_recorded_texts import views

WORD = re.compile(r"[A-Za-z]{3,}")
CODE = re.compile(
    r"`[^`]*`|<[^>]*>|\[[^]]*]\(http[^)]*\)|/debate \w+|/invite|[\w-]+/[\w-]+|#[\w· ]+"
)
NAMES = {
    *{"Rostrum", "Discord", "Slack", "Markdown", "USD", "UTC", "MiB", "Webhook", "webhook"},
    *{"Cohen", "Krippendorff", "Brier", "CC", "BY", "online", "rostrum", "SPDX"},
    *FORMATS,
    *("models", "language"),  # settings, as they are typed
    "caf",  # of a topic
    "ABC",  # of an example
}


def left(text: str) -> set[str]:
    """Return the words of a text in Chinese that are neither names nor written as code."""
    return set(WORD.findall(CODE.sub("", text))) - NAMES


def texts(view: Any, name: str = "") -> Iterator[str]:
    if isinstance(view, dict):
        for key, value in view.items():
            yield from texts(value, key)
    elif isinstance(view, list):
        for value in view:
            yield from texts(value, name)
    elif isinstance(view, str) and name in ("text", "label", "placeholder", "title", "hint"):
        yield view


def test_no_message_answer_form_or_home_tab_has_a_word_of_english() -> None:
    with speaking("zh"):
        for message in messages():
            shown = plain(message, "k7f2qz·1·1/1")
            assert (message.kind, left(shown)) == (message.kind, set())
        for answer in answers():
            kind, shown = type(answer).__name__, to_markdown(answer)
            assert (kind, left(shown)) == (kind, set()), shown
        for view in chain(*views().values()):
            written = list(texts(view))
            assert written
            assert {text for text in written if left(text)} == set()
