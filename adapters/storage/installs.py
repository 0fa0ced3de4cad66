"""Communities' tokens, encrypted, and the states of installations in progress, hashed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pydantic import SecretStr

from adapters.storage.communities import join
from adapters.storage.connection import SqlConnection
from adapters.storage.database import Database
from adapters.storage.installation import mark_unwiped
from adapters.storage.vault import Vault
from engine.store.installs import Install
from engine.values.errors import SettingsError

PLAIN = tuple(set(Install.model_fields) - {"token"})
UNOPENED = (
    "ROSTRUM_SECRET_KEY does not open what is stored of {who}; add the key that encrypted it after "
    "a comma, or delete that with rostrum disconnect and have Rostrum installed again."
)
KEEP = """
INSERT INTO installs (platform, community, name, account, token, installed_at)
VALUES (:platform, :community, :name, :account, :token, :installed_at)
ON CONFLICT (platform, community) DO UPDATE
SET name = excluded.name, account = excluded.account, token = excluded.token,
    installed_at = excluded.installed_at
"""
OF_PLATFORM = "SELECT * FROM installs WHERE platform = :platform ORDER BY community"
OF_COMMUNITY = "SELECT * FROM installs WHERE platform = :platform AND community = :community"
EVERY = "SELECT * FROM installs /*+ FOR UPDATE */"
SEAL = """
UPDATE installs SET token = :token WHERE platform = :platform AND community = :community
"""
DROP = "DELETE FROM installs WHERE platform = :platform AND community = :community"
BEGIN = "INSERT INTO install_states (digest, until) VALUES (:digest, :until) ON CONFLICT DO NOTHING"
EXPIRE = "DELETE FROM install_states WHERE until <= :now"
REDEEM = "DELETE FROM install_states WHERE digest = :digest AND until > :now"


class InstallTable:
    """The Installs part of the store."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self._database, self._vault = database, vault

    async def keep(self, install: Install) -> None:
        given = install.model_dump(exclude={"token"})
        token = self._vault.seal(install.token.get_secret_value())

        def store(connection: SqlConnection) -> None:
            connection.run(KEEP, token=token, **given)
            join(connection, install.platform, install.community, install.installed_at)

        await self._database.write(store)

    async def find(self, platform: str, community: str) -> Install | None:
        rows = await self._database.rows(OF_COMMUNITY, platform=platform, community=community)
        return next(iter(self._opened(rows)), None)

    async def every(self, platform: str) -> list[Install]:
        return self._opened(await self._database.rows(OF_PLATFORM, platform=platform))

    async def drop(self, platform: str, community: str) -> bool:
        def remove(connection: SqlConnection) -> bool:
            mark_unwiped(connection)
            return connection.run(DROP, platform=platform, community=community) > 0

        return await self._database.write(remove)

    async def reseal(self) -> None:
        def renew(connection: SqlConnection) -> None:
            for row in connection.rows(EVERY):
                token = None if self._vault.is_newest(row.token) else self._vault.open(row.token)
                if token is not None:
                    sealed = {"token": self._vault.seal(token)}
                    connection.run(SEAL, platform=row.platform, community=row.community, **sealed)
                    mark_unwiped(connection)

        await self._database.write(renew)

    async def begin(self, state: str, now: datetime, until: datetime) -> None:
        def store(connection: SqlConnection) -> None:
            connection.run(EXPIRE, now=now)
            connection.run(BEGIN, digest=_digest(state), until=until)

        await self._database.write(store)

    async def redeem(self, state: str, now: datetime) -> bool:
        return await self._database.run(REDEEM, digest=_digest(state), now=now) > 0

    def _opened(self, rows: Iterable[Any]) -> list[Install]:
        tokens = [(row, self._vault.open(row.token)) for row in rows]
        shut = [f"{row.name} ({row.platform} {row.community})" for row, t in tokens if t is None]
        if shut:
            raise SettingsError(UNOPENED.format(who=", ".join(shut)))
        return [
            Install(**{name: getattr(row, name) for name in PLAIN}, token=SecretStr(token or ""))
            for row, token in tokens
        ]


def _digest(state: str) -> str:
    return hashlib.sha256(state.encode()).hexdigest()
