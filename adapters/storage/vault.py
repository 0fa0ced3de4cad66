"""Encryption of stored secrets against anyone who can read the database.

Fernet (https://github.com/fernet/spec): AES-128 in CBC mode, authenticated by HMAC-SHA256.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.values.errors import SettingsError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

INFO = b"rostrum: stored tokens"
NO_KEY = "Tokens are stored encrypted only; set ROSTRUM_SECRET_KEY."


class Vault:
    """Encrypts with the first key; decrypts with any."""

    def __init__(self, keys: Sequence[str] = ()) -> None:
        self._ciphers = list(map(_open_cipher, keys))

    def seal(self, secret: str) -> str:
        """Encrypt with the first key. Raises SettingsError without any."""
        if not self._ciphers:
            raise SettingsError(NO_KEY)
        return self._ciphers[0].encrypt(secret.encode()).decode()

    def open(self, sealed: str) -> str | None:
        """Decrypt; None if no key fits."""
        opened = (_decrypt(cipher, sealed) for cipher in self._ciphers)
        return next((secret for secret in opened if secret is not None), None)

    def is_newest(self, sealed: str) -> bool:
        """Return whether the first key decrypts it."""
        return any(_decrypt(cipher, sealed) is not None for cipher in self._ciphers[:1])


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
