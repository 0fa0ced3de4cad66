"""The locks hold what they should, damage in them is found, and the bill of materials is valid."""

import json
import re
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.supply.__main__ import faults_of, main
from tests.supply.advisories import find_hits, read_advisories
from tests.supply.locks import DATASETS, HOLDS, ROOT, RUNTIME, Lock, differences, missing, read_lock
from tests.supply.sbom import OURS, image_pins, make_bom, write

HASH = f"    --hash=sha256:{'0' * 64}"
YAML = f"pyyaml==6.0.2 \\\n{HASH}\n    # via\n    #   rostrum-debates (pyproject.toml)\n"


def lock_of(tmp_path: Path, text: str, name: str = RUNTIME) -> Lock:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return read_lock(path)


def test_nothing_is_wrong_with_the_locks() -> None:
    assert list(faults_of([read_lock(ROOT / name) for name in HOLDS])) == []


def test_every_lock_of_the_project_is_checked() -> None:
    assert {path.name for path in ROOT.glob("*.lock")} == set(HOLDS)


@pytest.mark.parametrize(
    "line",
    [
        "pyyaml==6.0.2",
        f"pyyaml>=6 \\\n{HASH}",
        f"pyyaml==6.* \\\n{HASH}",
        "pyyaml==6.0.2 \\\n    --hash=md5:00",
        f"pyyaml @ file:///x.whl \\\n{HASH}",
        "--index-url http://127.0.0.1/simple",
        "-e .",
    ],
)
def test_a_line_that_could_install_anything_else_is_found(tmp_path: Path, line: str) -> None:
    lock = lock_of(tmp_path, f"{YAML}{line}\n")
    assert [pin.name for pin in lock.pins] == ["pyyaml"]
    assert len(lock.faults) == 1
    assert lock.faults[0].startswith(f"{RUNTIME}:5: ")


def test_locks_that_differ_and_that_lack_something_are_found(tmp_path: Path) -> None:
    one = lock_of(tmp_path, YAML)
    other = lock_of(tmp_path, YAML.replace("6.0.2", "6.0.3"), "requirements-dev.lock")
    swapped = lock_of(tmp_path, YAML.replace("sha256:0", "sha256:1"), DATASETS)
    assert len(list(differences([one, other]))) == 1
    assert len(list(differences([one, swapped]))) == 1
    assert list(differences([one, lock_of(tmp_path, YAML, DATASETS)])) == []
    lacking = list(missing(one, ROOT / "pyproject.toml"))
    assert any("aiohttp" in one for one in lacking)
    assert not any("pyyaml" in one for one in lacking)


def advisory(*events: dict[str, str], **more: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": "PyYAML"}
    ranges = [{"type": "ECOSYSTEM", "events": list(events)}]
    return {"id": "PYSEC-1", "affected": [{"package": package, "ranges": ranges} | more]}


@pytest.mark.parametrize(
    ("given", "hit"),
    [
        (advisory({"introduced": "0"}, {"fixed": "6.1"}), True),
        (advisory({"introduced": "0"}, {"fixed": "6.0.2"}), False),
        (advisory({"introduced": "0"}, {"last_affected": "6.0.2"}), True),
        (advisory({"introduced": "0"}, {"last_affected": "6.0.1"}), False),
        (advisory({"introduced": "6.0.3"}), False),
        (advisory({"introduced": "6"}, {"fixed": "5"}, {"introduced": "0"}), True),
        (advisory(versions=["6.0.2.0"]), True),
        (advisory(versions=["a string", "6.0"]), False),
        (advisory({"introduced": "0"}) | {"withdrawn": "2026-01-01T00:00:00Z"}, False),
    ],
)
def test_an_advisory_is_about_the_versions_in_its_ranges(
    tmp_path: Path, given: dict[str, Any], hit: bool
) -> None:
    with ZipFile(tmp_path / "all.zip", "w") as whole:
        whole.writestr("PYSEC-1.json", json.dumps(given))
    (tmp_path / "one.json").write_text(json.dumps([given]), "utf-8")
    lock = lock_of(tmp_path, YAML)
    for name in ("all.zip", "one.json"):
        found = list(find_hits([lock], read_advisories(tmp_path / name)))
        assert len(found) == hit
        assert all("pyyaml 6.0.2 has PYSEC-1" in str(one) for one in found)


def test_an_advisory_fails_the_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "one.json"
    file.write_text(json.dumps(advisory({"introduced": "0"})), "utf-8")
    assert main() == 0
    assert "were not looked up" in capsys.readouterr().out
    held = [name for name in HOLDS if "pyyaml" in read_lock(ROOT / name).versions()]
    assert main(str(file)) == len(held) > 1
    assert "has PYSEC-1" in capsys.readouterr().out


def test_the_bill_of_materials_is_valid_and_lists_the_image() -> None:
    pins = image_pins()
    text = write(make_bom(pins))
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert text == write(make_bom(image_pins()))
    told = json.loads(text)
    listed = {one["name"]: one for one in told["components"]}
    assert listed.keys() == {pin.name for pin in pins}
    assert {"aiohttp", "psycopg-binary", "pyarrow"} <= listed.keys()
    assert "colorama" not in listed  # of Windows
    assert all(one["licenses"] for one in told["components"])
    asked = {one["ref"]: one.get("dependsOn", ()) for one in told["dependencies"]}
    assert any(ref.startswith("pkg:pypi/aiohttp@") for ref in asked[OURS])
    assert set(asked) == {OURS, *(one["bom-ref"] for one in told["components"])}


def test_actions_and_images_of_others_are_named_by_what_they_are() -> None:
    """A tag can be moved to other code; Dependabot renews the digests."""
    files = [*ROOT.glob(".github/workflows/*"), *ROOT.glob("deploy/**/*.yaml")]
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    uses = [found[1] for line in lines if (found := re.search(r"uses: (\S+)", line))]
    images = [found[1] for line in lines if (found := re.search(r"\simage: ([a-z]\S+)", line))]
    images += re.findall(r"^FROM (\S+)", (ROOT / "deploy/Dockerfile").read_text("utf-8"), re.M)
    assert uses
    assert [one for one in uses if not re.search(r"@[0-9a-f]{40}$", one)] == []
    theirs = [one for one in images if one != "rostrum"]
    assert len(theirs) >= 4
    assert [one for one in theirs if not re.search(r"@sha256:[0-9a-f]{64}$", one)] == []
