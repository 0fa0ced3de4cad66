"""Removes keys from texts that leave the installation: known secrets, and what looks like one."""

from __future__ import annotations

import re
from collections.abc import Iterable

KEY = "[key]"
_SHORTEST = 6  # characters of a secret that is looked for: shorter ones are in ordinary words
_LOOKS = re.compile(
    r"""
    \b(?: sk-[\w-]{16,} | hf_\w{16,} | gh[pousr]_\w{20,} | github_pat_\w{20,}
        | xox[a-z]-[\w-]{10,} | xapp-[\w-]{10,} | AKIA[A-Z0-9]{16} | AIza[\w-]{30,}
        | gsk_\w{20,} | eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}
    )
    | (?<=[Bb]earer\s)[\w.~+/-]{16,}=*
    | (?<=://)[^\s/:@]{1,100}:[^\s/@]{1,200}(?=@)
    """,
    re.VERBOSE,
)


def scrub_keys(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace each of the secrets, longest first, and everything that looks like a key."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, KEY)
    return _LOOKS.sub(KEY, text)
