"""Tokens that communities gave, sealed; and who has begun to install, as hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pydantic import SecretStr
from sqlalchemy import ColumnElement, and_, delete, select, update
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.communities import join
from adapters.storage.connection import Connection
from adapters.storage.database import Database
from adapters.storage.people import mark_unwiped
from adapters.storage.tables import install_states, installs
from adapters.storage.vault import Vault
from engine.errors import SettingsError
from engine.store.installs import Install

UNOPENED = (
    "ROSTRUM_SECRET_KEY does not open what is stored of {who}; add the key that encrypted it after "
    "a comma, or delete that with rostrum disconnect and have Rostrum installed again."
)


class InstallTable:
    """The Installs part of the store."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database, self._vault = database, vault

    async def keep(self, install: Install) -> None:
        """Store a token in place of an earlier one; from then on the community has Rostrum."""
        given = install.model_dump(exclude={"token"})
        values = given | {"token": self._vault.seal(install.token.get_secret_value())}
        row = insert(installs).values(values)
        row = row.on_conflict_do_update(index_elements=["platform", "community"], set_=values)

        def store(connection: Connection) -> None:
            connection.execute(row)
            join(connection, install.platform, install.community, install.installed_at)

        await self._database.write(store)

    async def find(self, platform: str, community: str) -> Install | None:
        """Return what a community gave. Raises SettingsError where no key opens it."""
        found = await self._read(_is(platform, community))
        return found[0] if found else None

    async def every(self, platform: str) -> list[Install]:
        """Return all of a platform. Raises SettingsError that names those that no key opens."""
        return await self._read(installs.c.platform == platform)

    async def drop(self, platform: str, community: str) -> bool:
        """Delete a community's token; False: there was none."""

        def remove(connection: Connection) -> bool:
            gone = connection.execute(delete(installs).where(_is(platform, community)))
            mark_unwiped(connection)
            return bool(gone.rowcount > 0)

        return await self._database.write(remove)

    async def reseal(self) -> None:
        """Encrypt with the first key what another key encrypted, and leave what none opens."""

        def renew(connection: Connection) -> None:
            for row in connection.execute(select(installs)).all():
                token = None if self._vault.is_newest(row.token) else self._vault.open(row.token)
                if token is not None:
                    mine = update(installs).where(_is(row.platform, row.community))
                    connection.execute(mine.values(token=self._vault.seal(token)))
                    mark_unwiped(connection)

        await self._database.write(renew)

    async def begin(self, state: str, now: datetime, until: datetime) -> None:
        """Note that somebody began to install; those whose time is over are forgotten."""

        def store(connection: Connection) -> None:
            connection.execute(delete(install_states).where(install_states.c.until <= now))
            row = insert(install_states).values(digest=_digest(state), until=until)
            connection.execute(row.on_conflict_do_nothing())

        await self._database.write(store)

    async def redeem(self, state: str, now: datetime) -> bool:
        """Take a state that comes back, once and in time; False for any other."""
        mine = and_(install_states.c.digest == _digest(state), install_states.c.until > now)
        taken = delete(install_states).where(mine)
        return await self._database.write(lambda c: c.execute(taken).rowcount > 0)

    async def _read(self, which: ColumnElement[bool]) -> list[Install]:
        query = select(installs).where(which).order_by(installs.c.platform, installs.c.community)
        return self._opened(await self._database.read(lambda c: c.execute(query).all()))

    def _opened(self, rows: Iterable[Any]) -> list[Install]:
        tokens = [(row, self._vault.open(row.token)) for row in rows]
        shut = [f"{row.name} ({row.platform} {row.community})" for row, t in tokens if t is None]
        if shut:
            raise SettingsError(UNOPENED.format(who=", ".join(shut)))
        return [
            Install.model_validate(row._asdict() | {"token": SecretStr(token or "")})
            for row, token in tokens
        ]


def _is(platform: str, community: str) -> ColumnElement[bool]:
    return and_(installs.c.platform == platform, installs.c.community == community)


def _digest(state: str) -> str:
    return hashlib.sha256(state.encode()).hexdigest()
