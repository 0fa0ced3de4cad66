"""What lists of debates are searched by: a small row beside each setup, which is large."""

from __future__ import annotations

from collections.abc import Iterable

from adapters.storage.connection import SqlConnection
from engine.store import Post
from engine.values.debate import Setup
from engine.values.messages import Reveal
from engine.values.text import scrub

KEEP = """
INSERT INTO listings (debate, topic, models) VALUES (:debate, :topic, :models)
ON CONFLICT (debate) DO UPDATE SET topic = excluded.topic, models = excluded.models
"""
JUDGED = "UPDATE listings SET agree = :agree WHERE debate = :debate"


def keep_listing(connection: SqlConnection, debate: str, setup: Setup) -> None:
    """Keep what lists find a debate by, or renew it."""
    connection.run(KEEP, debate=debate, **listing_of(setup))


def listing_of(setup: Setup) -> dict[str, str]:
    """Return what lists find a debate by; models stand between spaces."""
    models = dict.fromkeys(model.ref for model in setup.request.speakers)
    topic = scrub(setup.request.topic).casefold()
    return {"topic": topic, "models": f" {' '.join(models)} "}


def note_agreement(connection: SqlConnection, debate: str, posts: Iterable[Post]) -> None:
    """Note whether people and jury agree, as the reveal among these says."""
    for reveal in [post.message for post in posts if isinstance(post.message, Reveal)]:
        connection.run(JUDGED, debate=debate, agree=reveal.agree)
