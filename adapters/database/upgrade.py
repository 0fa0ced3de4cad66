"""Upgrades a database by Alembic, which takes a third of a second to import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import inspect, text
from sqlalchemy.exc import SQLAlchemyError

import migrations
from adapters.database.database import SqlDatabase
from adapters.database.dialect import VERSIONS

RENEW_MIN_VERSION = "UPDATE installation SET value = :oldest WHERE name = 'min_version'"


def upgrade(database: SqlDatabase, then: Callable[[Any], None] | None = None) -> None:
    """Make a database's tables or run the migrations it lacks, all or nothing. Raises StoreError.

    What comes `then` gets the driver's connection, and belongs to the same transaction.
    """
    config = Config()
    config.set_main_option("script_location", str(migrations.scripts()))

    def run(connection: Any) -> None:
        config.attributes["connection"] = connection
        if inspect(connection).has_table(VERSIONS):
            command.upgrade(config, "head")
        else:
            command.upgrade(config, migrations.revisions()[0])  # which makes every table of today
            command.stamp(config, "head")
        if then is not None:
            then(connection.connection.driver_connection)
        # In the same transaction: older processes read it once the revision is a newer one.
        oldest = migrations.min_version()
        note = migrations.NOTE_MIN_VERSION if oldest != migrations.newest() else RENEW_MIN_VERSION
        connection.execute(text(note), {"oldest": oldest})

    try:
        database.dialect.upgrade(run)
    except SQLAlchemyError as error:
        raise database.explain(getattr(error, "orig", None) or error) from error
    except database.dialect.faults as error:
        raise database.explain(error) from error
