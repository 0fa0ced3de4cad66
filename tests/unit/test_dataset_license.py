"""The licence of an export: which ids are taken, and what the card says."""

from __future__ import annotations

import string

import pytest
import yaml
from hypothesis import given, strategies as st

from engine.dataset.card import describe, front_matter, read_license
from engine.values.errors import UsageError


@pytest.mark.parametrize(
    ("typed", "id", "card"),
    [
        ("cc-by-4.0", "CC-BY-4.0", {"license": "cc-by-4.0"}),
        (" CC0-1.0 ", "CC0-1.0", {"license": "cc0-1.0"}),
        ("ODC-By-1.0", "ODC-By-1.0", {"license": "odc-by"}),
        ("odbl-1.0", "ODbL-1.0", {"license": "odbl"}),
        ("GPL-3.0-or-later", "GPL-3.0-or-later", {"license": "gpl-3.0"}),
        (
            "CC-BY-1.0",
            "CC-BY-1.0",
            {
                "license": "other",
                "license_name": "cc-by-1.0",
                "license_link": "https://spdx.org/licenses/CC-BY-1.0.html",
            },
        ),
        (
            "LicenseRef-Club",
            "LicenseRef-Club",
            {"license": "other", "license_name": "licenseref-club"},
        ),
        ("Other", None, {"license": "other", "license_name": "set-by-publisher"}),
    ],
)
def test_an_spdx_id_becomes_the_hubs_own_id(
    typed: str, id: str | None, card: dict[str, str]
) -> None:
    assert read_license("--license", typed) == id
    assert yaml.safe_load("\n".join(front_matter(id))) == card
    assert (id or "up to the publisher") in describe(id)


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("odc-by", "did you mean ODC-By-1.0?"),
        ("cc by 4.0", "did you mean CC-BY-4.0?"),
        ("MIT OR Apache-2.0", "did you mean Apache-2.0?"),
        ("", "write one such as CC-BY-4.0, or other."),
        (f"LicenseRef-{'x' * 100}", "write one such as CC-BY-4.0, or other."),
    ],
)
def test_anything_else_is_refused_with_the_closest_id(typed: str, hint: str) -> None:
    with pytest.raises(UsageError) as told:
        read_license("--license", typed)
    assert str(told.value).startswith("--license is “")
    assert str(told.value).endswith(f"which is not an SPDX id; {hint}")


@given(st.one_of(st.text(), st.text(alphabet=string.ascii_letters + string.digits + ".+-:")))
def test_no_text_gets_into_the_card_as_more_than_one_value(typed: str) -> None:
    try:
        id = read_license("license", typed)
    except UsageError:
        return
    card = yaml.safe_load("\n".join(front_matter(id)))
    assert set(card) <= {"license", "license_name", "license_link"}
