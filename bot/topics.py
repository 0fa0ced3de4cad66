"""`rostrum topics`: the topics on offer, the file they are from, and what is wrong in it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.settings.load import load_topics
from engine.chat.answers.catalogue import topic_line
from engine.prompts.library import check_language
from engine.values.errors import RostrumError
from engine.values.text import clean
from engine.values.topics import Topic


async def list_topics(language: str | None = None) -> None:
    """Print the topics by language.

    Raises RostrumError after listing what is wrong in the file, and UsageError for a language.
    """
    only = check_language(language) if language else None
    file, listed = load_topics()
    print(
        f"Topics of {file}"
        if file
        else "Built-in topics; ROSTRUM_TOPICS_FILE names a file of your own."
    )
    shown = [topic for topic in listed.topics if only is None or topic.speaks(only)]
    for line in _lines(shown) if shown or not listed.topics else ["none in this language"]:
        print(clean(line))
    for fault in listed.faults:
        print(f"FAIL  {clean(fault)}")
    if listed.faults:
        # A fault of the file as a whole, such as that it holds no topic, is of no line.
        count = sum(fault.startswith(f"{file}, line ") for fault in listed.faults)
        lines = f"{count} {'line' if count == 1 else 'lines'} of " if count else ""
        raise RostrumError(f"{lines}{file} must be fixed.")


def _lines(topics: Sequence[Topic]) -> list[str]:
    lines = []
    for language in dict.fromkeys(topic.language for topic in topics):
        mine = [topic for topic in topics if topic.language == language]
        lines += ["", f"{language} ({len(mine)})", *(f"  {topic_line(topic)}" for topic in mine)]
    return lines
