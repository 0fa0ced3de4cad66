"""Communities that installed Rostrum by OAuth: their tokens, encrypted, and states, hashed.

Fernet (https://github.com/fernet/spec): AES-128 in CBC mode, authenticated by HMAC-SHA256.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from engine.store.communities import join
from engine.store.database import Database, SqlConnection
from engine.store.purge import mark_unwiped
from engine.values.debate import Value
from engine.values.errors import SettingsError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class Install(Value):
    """What a platform returned when a community installed Rostrum.

    `name` is the community's, `account` the bot's own user there. `token` acts for the bot; it is
    stored only here, encrypted.
    """

    platform: str
    community: str
    name: str
    account: str
    token: SecretStr
    installed_at: datetime


INFO = b"rostrum: stored tokens"
NO_KEY = "Tokens are stored encrypted only; set ROSTRUM_SECRET_KEY."


def _decrypt(cipher: Fernet, sealed: str) -> str | None:
    from cryptography.fernet import InvalidToken

    try:
        return cipher.decrypt(sealed).decode()
    except InvalidToken:
        return None


def _open_cipher(key: str) -> Fernet:
    """Return the cipher for a key in any form; its own key is derived by HKDF (RFC 5869)."""
    # Only where there is a key: it takes 7 MB, and every command opens the store.
    from cryptography.fernet import Fernet
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=INFO).derive(key.encode())
    return Fernet(base64.urlsafe_b64encode(derived))


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


class Installs:
    """The tokens of communities, and installations in progress.

    The first of `keys` encrypts; any decrypts.
    """

    def __init__(self, database: Database, keys: Sequence[str] = ()) -> None:
        self._database = database
        self._ciphers = list(map(_open_cipher, keys))

    async def keep(self, install: Install) -> None:
        """Store a token in place of an earlier one; the community then has Rostrum."""
        given = install.model_dump(exclude={"token"})
        token = self._seal(install.token.get_secret_value())

        def store(connection: SqlConnection) -> None:
            connection.run(KEEP, token=token, **given)
            join(connection, install.platform, install.community, install.installed_at)

        await self._database.write(store)

    async def find(self, platform: str, community: str) -> Install | None:
        """Return a community's install. Raises SettingsError if no key decrypts it."""
        rows = await self._database.rows(OF_COMMUNITY, platform=platform, community=community)
        return next(iter(self._opened(rows)), None)

    async def every(self, platform: str) -> list[Install]:
        """Return all of a platform. Raises SettingsError naming those that no key decrypts."""
        return self._opened(await self._database.rows(OF_PLATFORM, platform=platform))

    async def drop(self, platform: str, community: str) -> bool:
        """Delete a community's token; False if there was none."""

        def remove(connection: SqlConnection) -> bool:
            mark_unwiped(connection)
            return connection.run(DROP, platform=platform, community=community) > 0

        return await self._database.write(remove)

    async def reseal(self) -> None:
        """Encrypt every token with the first key; leaves those that no key decrypts."""

        def renew(connection: SqlConnection) -> None:
            for row in connection.rows(EVERY):
                newest = any(_decrypt(one, row.token) is not None for one in self._ciphers[:1])
                token = None if newest else self._open(row.token)
                if token is not None:
                    sealed = {"token": self._seal(token)}
                    connection.run(SEAL, platform=row.platform, community=row.community, **sealed)
                    mark_unwiped(connection)

        await self._database.write(renew)

    async def begin(self, state: str, now: datetime, until: datetime) -> None:
        """Record that an installation began with this state, as a hash; deletes expired ones."""

        def store(connection: SqlConnection) -> None:
            connection.run(EXPIRE, now=now)
            connection.run(BEGIN, digest=_digest(state), until=until)

        await self._database.write(store)

    async def redeem(self, state: str, now: datetime) -> bool:
        """Accept a returning state, once and in time; False for any other."""
        return await self._database.run(REDEEM, digest=_digest(state), now=now) > 0

    def _seal(self, secret: str) -> str:
        """Encrypt with the first key. Raises SettingsError without any."""
        if not self._ciphers:
            raise SettingsError(NO_KEY)
        return self._ciphers[0].encrypt(secret.encode()).decode()

    def _open(self, sealed: str) -> str | None:
        """Decrypt; None if no key fits."""
        opened = (_decrypt(cipher, sealed) for cipher in self._ciphers)
        return next((secret for secret in opened if secret is not None), None)

    def _opened(self, rows: Iterable[Any]) -> list[Install]:
        tokens = [(row, self._open(row.token)) for row in rows]
        shut = [f"{row.name} ({row.platform} {row.community})" for row, t in tokens if t is None]
        if shut:
            raise SettingsError(UNOPENED.format(who=", ".join(shut)))
        return [
            Install(**{name: getattr(row, name) for name in PLAIN}, token=SecretStr(token or ""))
            for row, token in tokens
        ]


def _digest(state: str) -> str:
    return hashlib.sha256(state.encode()).hexdigest()
