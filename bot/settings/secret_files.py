"""Secrets in files: one that `ROSTRUM_…_FILE` names, and folders that a host provides.

Docker and Kubernetes mount secrets in `/run/secrets`, systemd those of `LoadCredential=` in
`$CREDENTIALS_DIRECTORY`. There a file has its setting's name in lower case, such as
`rostrum_discord__token`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

MOUNTED = Path("/run/secrets")
GIVEN_BY_SYSTEMD = "CREDENTIALS_DIRECTORY"
MOST_BYTES = 65_536  # a key is far shorter; a larger file is another one


def read_secret(file: Path) -> str:
    """Return the one line that a file holds. Raises ValueError with what is wrong, and what to do.

    The message goes on after the file's name, and never holds a byte of its content.
    """
    try:
        with file.open("rb") as opened:
            stored = opened.read(MOST_BYTES + 1)
    except IsADirectoryError:
        raise ValueError("is a folder; name the file that holds the secret") from None
    except FileNotFoundError:
        raise ValueError("does not exist; create it, or leave the setting out") from None
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}; make it readable") from None
    if len(stored) > MOST_BYTES:
        raise ValueError("is larger than 64 KiB; it must hold the secret alone")
    try:
        secret = stored.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text; save it as UTF-8") from None
    if not secret:
        raise ValueError("is empty; write the secret into it, or leave the setting out")
    if not secret.isprintable():
        raise ValueError("must hold one line of text; write the secret alone into it")
    return secret


def provided_files(prefix: str) -> Iterator[Path]:
    """Yield the files in the host's folders whose names begin so, in any case.

    Raises OSError for a folder that cannot be listed.
    """
    folders = (MOUNTED, Path(os.environ.get(GIVEN_BY_SYSTEMD) or MOUNTED))
    for folder in dict.fromkeys(folders):
        if folder.is_dir():
            yield from sorted(
                file for file in folder.iterdir() if file.name.lower().startswith(prefix)
            )
