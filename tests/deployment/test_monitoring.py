"""Alerts, dashboard and autoscaler ask for metrics and labels that Rostrum has."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import promql_parser
import pytest
import yaml

from adapters.metrics import FAMILIES, _Family
from bot.settings.settings import Settings
from engine.values.ports import FaultKind

DEPLOY = Path(__file__).parents[2] / "deploy"
ENDINGS: dict[str, dict[str, tuple[str, ...]]] = {
    "counter": {"_total": ()},
    "gauge": {"": ()},
    "histogram": {"_bucket": ("le",), "_sum": (), "_count": ()},
}
# Of prometheus-client, about the process; Prometheus adds the instance to all.
OF_THE_PROCESS = (
    "process_cpu_seconds_total",
    "process_max_fds",
    "process_open_fds",
    "process_resident_memory_bytes",
)
OF_ALL = ("instance", "job")
ALERTS = ("alertname", "alertstate")


class Asked(NamedTuple):
    """A query, and where it is."""

    place: str
    query: str


def series_of(family: _Family) -> dict[str, tuple[str, ...]]:
    """Return the names under which a metric is scraped, each with its labels."""
    endings = ENDINGS[family.kind]
    return {family.name + ending: (*family.labels, *own) for ending, own in endings.items()}


SERIES = {name: labels for family in FAMILIES for name, labels in series_of(family).items()}
KNOWN: dict[str, tuple[str, ...]] = {
    **{name: (*labels, *OF_ALL) for name, labels in SERIES.items()},
    **dict.fromkeys(OF_THE_PROCESS, OF_ALL),
    "ALERTS": ALERTS,
}


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text(encoding="utf-8"))
    return [rule for group in groups["groups"] for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text("utf-8"))
    return found


def panels() -> list[dict[str, Any]]:
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def adapter() -> dict[str, Any]:
    text = (DEPLOY / "kubernetes" / "prometheus-adapter.yaml").read_text(encoding="utf-8")
    rule: dict[str, Any] = yaml.safe_load(text)["rules"]["external"][0]
    return rule


def asked() -> Iterator[Asked]:
    yield from (Asked(rule["alert"], rule["expr"]) for rule in rules())
    for panel in panels():
        for target in panel["targets"]:
            yield Asked(panel["title"], re.sub(r"\$\w+", "x", target["expr"]))
    for one in dashboard()["annotations"]["list"]:
        yield Asked(one["name"], one["expr"])
    for variable in dashboard()["templating"]["list"][1:]:
        metric, label = re.findall(r"[\w.]+", variable["definition"])[1:]
        yield Asked(variable["name"], f"count by ({label}) ({metric})")
    yield from (Asked("autoscaler", adapter()[key]) for key in ("seriesQuery", "metricsQuery"))


def parts_of(query: str) -> list[promql_parser.Expr]:
    found: list[promql_parser.Expr] = []
    promql_parser.walk(promql_parser.parse(query), lambda part: found.append(part))
    return found


def selectors(query: str) -> list[promql_parser.VectorSelector]:
    return [part for part in parts_of(query) if isinstance(part, promql_parser.VectorSelector)]


@pytest.mark.parametrize("one", [*asked()], ids=lambda one: one.place)
def test_a_query_names_only_metrics_and_labels_that_exist(one: Asked) -> None:
    found = selectors(one.query)
    assert found, one.query
    labels: set[str] = set()
    for selector in found:
        assert selector.name in KNOWN, f"{one.place}: {selector.name} is not exported"
        has = {"le", *KNOWN[selector.name]}
        labels |= has
        assert {matcher.name for matcher in selector.matchers.matchers} <= has, one
    grouped = re.findall(r"\b(?:by|on|without|ignoring) *\(([^)]*)\)", one.query)
    assert {name.strip() for names in grouped for name in names.split(",")} <= labels, one


def test_every_metric_is_on_the_dashboard_but_those_that_are_in_another() -> None:
    shown = {selector.name for one in asked() for selector in selectors(one.query)}
    missing = [family.name for family in FAMILIES if not shown & series_of(family).keys()]
    assert not missing


def test_every_alert_says_what_happened_and_what_to_do() -> None:
    assert len({rule["alert"] for rule in rules()}) == len(rules()) > 10
    for rule in rules():
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        said = rule["annotations"]
        assert said["summary"].endswith(".")
        assert said["description"].endswith(".")
        labels = {name for made in KNOWN.values() for name in made}
        assert set(re.findall(r"\$labels\.(\w+)", said["summary"])) <= labels


def test_outcomes_and_states_in_queries_are_those_that_are_counted() -> None:
    values = {
        "status": {"queued", "running", "voting", "failed"},
        "cause": {"bug"},
        "outcome": {"ok", *(kind.value for kind in FaultKind)},
    }
    for one in asked():
        for selector in selectors(one.query):
            for matcher in selector.matchers.matchers:
                named = set(matcher.value.split("|")) if matcher.name in values else set()
                assert named <= values.get(matcher.name, set()), one


def test_panels_have_ids_of_their_own_and_do_not_overlap() -> None:
    every = dashboard()["panels"]
    assert len({panel["id"] for panel in every}) == len(every)
    taken: set[tuple[int, int]] = set()
    for panel in every:
        at = panel["gridPos"]
        across, down = range(at["x"], at["x"] + at["w"]), range(at["y"], at["y"] + at["h"])
        cells = {(x, y) for x in across for y in down}
        assert max(x for x, _ in cells) < 24
        assert not cells & taken, panel["title"]
        taken |= cells


def test_the_autoscaler_asks_for_the_metric_that_the_adapter_makes() -> None:
    worker = (DEPLOY / "kubernetes" / "base" / "worker.yaml").read_text(encoding="utf-8")
    scaler = next(
        made for made in yaml.safe_load_all(worker) if made["kind"] == "HorizontalPodAutoscaler"
    )
    [metric] = scaler["spec"]["metrics"]
    assert metric["external"]["metric"]["name"] == adapter()["name"]["as"]
    # A worker that is asked for more than it takes would leave debates waiting.
    assert int(metric["external"]["target"]["averageValue"]) <= Settings().worker.debates / 2


def test_every_alert_is_tried_on_a_fresh_process() -> None:
    """Promtool runs these tests (`make deployment`): a counter that is born at 40 never rises."""
    text = (DEPLOY / "prometheus" / "alerts.test.yaml").read_text(encoding="utf-8")
    tried = [one for one in yaml.safe_load(text)["tests"] if "fresh process" in one["name"]]
    named = set(re.findall(r"Rostrum[A-Z]\w+", json.dumps(tried)))
    assert named == {rule["alert"] for rule in rules()} - {"RostrumAbsent"}, "absent is no process"
