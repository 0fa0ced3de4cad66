"""What docs/jury.md offers to paste can be pasted: rosters load, have prices, and can sit."""

import os
import re
from pathlib import Path

import pytest

from adapters.models.discovery import bundled_price
from bot.settings.files import read_rubric
from bot.settings.load import load_settings
from engine.jury.rubric import RUBRICS
from engine.values.makers import kin

TEXT = (Path(__file__).parents[2] / "docs" / "jury.md").read_text(encoding="utf-8")
ROSTERS = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("roster", ROSTERS, ids=range(len(ROSTERS)))
def test_a_roster_loads_has_prices_and_leaves_two_jurors(
    roster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.upper().startswith("ROSTRUM_")]:
        monkeypatch.delenv(name)
    (tmp_path / ".env").write_text(roster.replace("…", "key"), encoding="utf-8")
    settings = load_settings(tmp_path / ".env", tmp_path / "rostrum.toml")
    backends = {backend.name: backend for backend in settings.endpoints()}
    debaters = {kin(model.family) for model in settings.models}
    assert len(debaters) >= 2
    assert len([juror for juror in settings.jurors if kin(juror.family) not in debaters]) >= 2
    for model in (*settings.models, *settings.jurors):
        backend = backends[model.backend]
        if not backend.local:
            assert bundled_price(backend.base_url, model.name) is not None, model.ref


def test_the_rubrics_are_as_the_page_says() -> None:
    (written,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    rubric = read_rubric(written, "file")
    assert [one.name for one in rubric.criteria] == ["feasibility", "fairness"]
    for name, known in RUBRICS.items():
        (row,) = re.findall(rf"^\| `{name}`.*\|$", TEXT, re.MULTILINE)
        assert all(one.name in row for one in known.criteria)
        low, high = known.criteria[0].range
        assert f"| {low}–{high} |" in row
