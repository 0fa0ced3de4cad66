"""Encryption of what is stored and must not be read by whoever reads the database.

Fernet (https://github.com/fernet/spec): AES-128 in CBC mode, authenticated by HMAC-SHA256.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from engine.errors import SettingsError

INFO = b"rostrum: stored tokens"
NO_KEY = "Tokens are stored encrypted only; set ROSTRUM_SECRET_KEY."


class Vault:
    """Seals and opens secrets: the first key seals, each of them opens."""

    def __init__(self, keys: Sequence[str] = ()) -> None:
        self._ciphers = [Fernet(_derive(key)) for key in keys]

    def seal(self, secret: str) -> str:
        """Encrypt with the first key. Raises SettingsError without any."""
        if not self._ciphers:
            raise SettingsError(NO_KEY)
        return self._ciphers[0].encrypt(secret.encode()).decode()

    def open(self, sealed: str) -> str | None:
        """Decrypt, None where no key fits."""
        try:
            return MultiFernet(self._ciphers).decrypt(sealed).decode() if self._ciphers else None
        except InvalidToken:
            return None

    def is_newest(self, sealed: str) -> bool:
        """Whether the first key opens it."""
        try:
            self._ciphers[0].decrypt(sealed)
        except (InvalidToken, IndexError):
            return False
        return True


def _derive(key: str) -> bytes:
    """Return a Fernet key from a text of any form (HKDF, RFC 5869)."""
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=INFO).derive(key.encode())
    return base64.urlsafe_b64encode(derived)
