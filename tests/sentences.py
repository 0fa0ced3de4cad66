"""Every sentence that people can read, once in each language, in build/sentences.

`make sentences` writes them for fresh eyes: each template of the catalogues with values as they
occur, then every message and answer as a chat shows it.
"""

import string
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from adapters.terminal.render import plain
from engine.chat.answers import to_markdown
from engine.values.language import ENGLISH, speaking
from engine.words.translation import LANGUAGES, catalogue, say
from tests.contract.test_every_message import messages
from tests.unit.test_answers_languages import answers

OUT = Path("build/sentences")
VALUES: dict[str, object] = {
    **dict.fromkeys(("n", "quorum", "most", "total", "words", "limit", "left"), 3),
    **dict.fromkeys(("side", "winner", "own", "panel"), "🔵 A"),
    **dict.fromkeys(("code", "mirror", "debate"), "k7f2qz"),
    **dict.fromkeys(("model", "was", "now"), "near/ana"),
    **dict.fromkeys(("span", "lasts", "minutes"), "30 min"),
    "topic": "Tea is better than coffee",
    "platform": "Discord",
    "prefix": "/debate",
    "usage": "vote=30m",
    "when": datetime(2026, 3, 1, 12, tzinfo=UTC),
}


def sentences() -> Iterator[str]:
    """Yield every sentence in the language spoken."""
    for template in catalogue(LANGUAGES[0]):
        values: dict[str, object] = {}
        for _, name, spec, _ in string.Formatter().parse(template):
            if name:
                known = VALUES.get(name, 3 if spec else name)
                values[name] = (known, "b") if spec in ("or", "and") else known
        yield say(template, **values)
    for message in messages():
        yield f"# {message.kind}\n{plain(message, 'k7f2qz·1·1/1')}"
    for answer in answers():
        yield f"# {type(answer).__name__}\n{to_markdown(answer)}"


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for language in (ENGLISH, *LANGUAGES):
        with speaking(language):
            text = "\n".join(dict.fromkeys("\n".join(sentences()).split("\n")))  # each line once
        OUT.joinpath(f"{language}.txt").write_text(f"{text}\n", "utf-8")
    print(f"{OUT}: one file a language")
