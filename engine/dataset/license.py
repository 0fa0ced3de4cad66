"""The licence of an export as operators name it: an SPDX id, or none."""

from __future__ import annotations

import re

from engine.values.errors import UsageError
from engine.values.language import Text
from engine.values.options import nearest
from engine.values.text import clean, headline

OTHER = "other"  # the publisher has set none
LONGEST = 64  # characters
_ID = re.compile(r"[A-Za-z0-9.+-]+")
OWN = "LicenseRef-"  # of licences that are not on SPDX's list
# Of https://huggingface.co/docs/hub/repositories-licenses, as far as SPDX has the same in capitals.
_HUBS = (
    "afl-3.0 agpl-3.0 apache-2.0 artistic-2.0 bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 "
    "cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 "
    "cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 "
    "cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0 cdla-permissive-2.0 cdla-sharing-1.0 "
    "ecl-2.0 epl-1.0 epl-2.0 etalab-2.0 eupl-1.1 gpl-2.0 gpl-3.0 isc lgpl-2.1 lgpl-3.0 lppl-1.3c "
    "mit mpl-2.0 ms-pl ncsa ofl-1.1 osl-3.0 postgresql unlicense wtfpl zlib"
)
_SAME = frozenset(_HUBS.split())
_VERSIONED = {
    "c-uda-1.0": "c-uda",
    "gfdl-1.1": "gfdl",
    "gfdl-1.2": "gfdl",
    "gfdl-1.3": "gfdl",
    "odbl-1.0": "odbl",
    "odc-by-1.0": "odc-by",
    "pddl-1.0": "pddl",
}
_ONLY = re.compile(r"-(only|or-later)$")  # SPDX's newer names of the GNU licences


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
    close = nearest(text.strip().casefold(), (*_SAME, *_VERSIONED))
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


def named(license: str) -> tuple[str, ...]:
    """Return how a card names a licence to a dataset hub."""
    folded = _ONLY.sub("", license.lower())
    known = _VERSIONED.get(folded, folded if folded in _SAME else None)
    if known is not None:
        return (f"license: {known}",)
    other = ("license: other", f"license_name: {license.lower()}")
    return other if license.startswith(OWN) else (*other, f"license_link: {page_of(license)}")


def page_of(license: str) -> str:
    """Return the address of a licence's text."""
    return f"https://spdx.org/licenses/{license}.html"


def link_of(license: str) -> str:
    """Return the address of a licence's text in brackets; nothing for the publisher's own."""
    return "" if license.startswith(OWN) else f" (<{page_of(license)}>)"
