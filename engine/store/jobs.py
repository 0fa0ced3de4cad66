"""Jobs of several processes: the queue of a debate, and what waits for a person."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import orjson

from engine.store.database import SqlConnection
from engine.values.debate import Setup

LONGEST_NAME = 100  # characters of a queue's name; Procrastinate takes 128
# A debate has one waiting job at most: its queueing lock.
DEFER = """
SELECT procrastinate_defer_jobs_v1(ARRAY[ROW(
    CAST(:queue AS varchar), 'think', 0, NULL, CAST(:debate AS text), CAST(:args AS jsonb), NULL
)::procrastinate_job_to_defer_v1])
WHERE NOT EXISTS (
    SELECT 1 FROM procrastinate_jobs WHERE queueing_lock = :debate AND status = 'todo'
)
"""
# A debate that goes on with other models may need other backends.
MISPLACED = """
DELETE FROM procrastinate_jobs
WHERE queueing_lock = :debate AND status = 'todo' AND queue_name <> :queue
"""
# A debate that waits for a person who argues a side.
AWAITED = """
EXISTS (
    SELECT 1 FROM questions
    JOIN guests ON guests.debate = questions.debate JOIN people ON people.id = guests.person
    WHERE questions.debate = debates.id AND questions.question IN ('consent', 'speak')
        AND questions.opened_at IS NOT NULL AND questions.closed_at IS NULL
        AND people."user" IS NOT NULL AND debates.stop IS NULL AND NOT debates.gone
)
"""


class Queue(NamedTuple):
    """Jobs that need the same backends."""

    name: str
    backends: tuple[str, ...]


def queue_of(setup: Setup) -> Queue:
    """Return the queue for a debate."""
    backends = setup.backends
    name = f"debates/{'+'.join(backends)}"
    if len(name) > LONGEST_NAME:
        name = f"debates/{hashlib.sha256(name.encode()).hexdigest()[:40]}"
    return Queue(name, backends)


def defer(connection: SqlConnection, debate_id: str, setup: Setup) -> str:
    """Queue a job for a debate, unless one waits; return the queue's name."""
    queue = queue_of(setup)
    args = orjson.dumps({"debate": debate_id, "backends": queue.backends}).decode()
    connection.run(MISPLACED, debate=debate_id, queue=queue.name)
    connection.rows(DEFER, debate=debate_id, queue=queue.name, args=args)
    return queue.name
