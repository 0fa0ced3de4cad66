"""Later judgings of debates: by other judges of the format, or by another panel."""

from __future__ import annotations

from collections.abc import Sequence

from engine.store.database import Database, SqlConnection
from engine.store.journal import JUDGES, JUDGINGS, Judging, Note, to_judging
from engine.store.leases import Lease, guard
from engine.values.debate import Model, PanelMode

INSERT_JUDGING = """
INSERT INTO judgings (debate, number, judges, mode) VALUES (:debate, :number, :judges, :mode)
"""
CLOSE_JUDGING = """
UPDATE judgings SET body = :body WHERE debate = :debate AND number = :number AND body IS NULL
"""


class Judgings:
    """Later judgings, each opened once and stored whole."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(
        self,
        lease: Lease,
        debate_id: str,
        judges: Sequence[Model],
        mode: PanelMode | None = None,
    ) -> Judging:
        """Return the judging by these judges, or by these jurors: theirs so far, or a new one."""

        def open_or_find(connection: SqlConnection) -> Judging:
            guard(connection, lease)
            known = [to_judging(row) for row in connection.rows(JUDGINGS, debates=[debate_id])]
            for judging in known:
                if judging.is_by(judges, mode):
                    return judging
            opened = Judging(number=len(known) + 1, judges=tuple(judges), mode=mode)
            body = JUDGES.dump_json(opened.judges).decode()
            row = {"debate": debate_id, "number": opened.number, "judges": body}
            connection.run(INSERT_JUDGING, **row, mode=mode)
            return opened

        return await self._database.write(open_or_find)

    async def close(self, lease: Lease, debate_id: str, number: int, found: Note) -> None:
        """Store what a judging found, once."""
        body = found.model_dump_json()

        def close(connection: SqlConnection) -> None:
            guard(connection, lease)
            connection.run(CLOSE_JUDGING, debate=debate_id, number=number, body=body)

        await self._database.write(close)
