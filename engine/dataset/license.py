"""The licence of an export as operators name it: an SPDX id, or none."""

from __future__ import annotations

import re

from engine.dataset.card import SAME, VERSIONED
from engine.values.errors import UsageError
from engine.values.language import Text
from engine.values.options import nearest
from engine.values.text import clean, headline

OTHER = "other"  # the publisher has set none
LONGEST = 64  # characters
_ID = re.compile(r"[A-Za-z0-9.+-]+")


def read_license(name: str, text: str) -> str | None:
    """Return the SPDX id in SPDX's capitals; None for `other`.

    Raises UsageError naming the option for anything else, with the closest id.
    """
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

    if text.strip().casefold() == OTHER:
        return None
    try:
        if _ID.fullmatch(text.strip()) and len(text) <= LONGEST:
            return str(canonicalize_license_expression(text.strip()))
    except InvalidLicenseExpression:
        pass
    close = nearest(text.strip().casefold(), (*SAME, *VERSIONED))
    hint = (
        Text("did you mean {close}?", close=canonicalize_license_expression(close))
        if close
        else Text("write one such as CC-BY-4.0, or {other}.", other=OTHER)
    )
    raise UsageError(
        "{name} is “{text}”, which is not an SPDX id; {near}",
        name=name,
        text=headline(clean(text), 40),
        near=hint,
    )
