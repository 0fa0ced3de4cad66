"""The files of deploy/ and .github/, each checked by a tool of its trade: `make deployment`.

A tool that this machine lacks skips its check, and the summary says which and why.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bot.settings.settings import STOP_SECONDS

ROOT = Path(__file__).parents[2]
DEPLOY, GITHUB = ROOT / "deploy", ROOT / ".github"
UNITS = sorted(path.name for path in DEPLOY.glob("systemd/*.service"))
MANIFESTS = sorted(path.parent for path in DEPLOY.glob("kubernetes/**/kustomization.yaml"))
FORMS = sorted(path for path in GITHUB.glob("ISSUE_TEMPLATE/*.yml") if path.stem != "config")
MOST_EXPOSED = "15"  # in tenths, of 10.0; systemd calls less than 2.0 OK


def tool(name: str, absent: str) -> str:
    own = Path(sys.executable).with_name(name)
    found = str(own) if own.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"NOT CHECKED: {name} is not on this machine ({absent})")
    return found


def passes(*command: str | Path, cwd: Path = ROOT) -> str:
    ended = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said
    return said


def schema(name: str, *files: Path) -> None:
    assert files
    passes(tool("check-jsonschema", "make .venv/dev"), "--builtin-schema", name, *files)


def test_dockerfile_by_hadolint() -> None:
    passes(tool("hadolint", "make .venv/dev"), "--failure-threshold", "style", "deploy/Dockerfile")


@pytest.mark.parametrize("profile", ["", "init", "scale", "https"])
def test_compose_file_by_compose(profile: str, tmp_path: Path) -> None:
    compose = tool("docker-compose", "no wheel for this platform, and no plugin installed")
    shutil.copytree(DEPLOY, tmp_path / "deploy")
    shutil.copy(ROOT / ".env.example", tmp_path / ".env")
    file = tmp_path / "deploy" / "compose.yaml"
    passes(compose, "--file", file, "--profile", profile, "config", "--quiet")


@pytest.mark.parametrize("unit", UNITS)
def test_unit_by_systemd(unit: str, tmp_path: Path) -> None:
    analyze = tool("systemd-analyze", "it is part of systemd")
    text = (DEPLOY / "systemd" / unit).read_text(encoding="utf-8")
    copy = tmp_path / unit.replace("@", "@8081")
    # Rostrum is not installed there on this machine, and its page is not on this disk.
    text = re.sub(r"(?m)^Documentation=.*\n", "", text)
    copy.write_text(text.replace("/opt/rostrum/bin/rostrum", "/bin/true"), encoding="utf-8")
    said = passes(analyze, "verify", "--man=no", copy)
    assert str(copy.name) not in said, said
    rating = passes(
        analyze, "security", "--no-pager", "--offline=true", f"--threshold={MOST_EXPOSED}", copy
    )
    print(rating.strip().splitlines()[-1])


@pytest.mark.parametrize("folder", MANIFESTS, ids=lambda folder: folder.name)
def test_kubernetes_by_kustomize_and_its_schemas(folder: Path, tmp_path: Path) -> None:
    kubectl = tool("kubectl", "no wheel for this platform; install kubectl")
    rendered = tmp_path / "rendered.yaml"
    rendered.write_text(passes(kubectl, "kustomize", folder), encoding="utf-8")
    kinds = [made["kind"] for made in yaml.safe_load_all(rendered.read_text(encoding="utf-8"))]
    assert {"Deployment", "HorizontalPodAutoscaler", "Job", "PodDisruptionBudget"} <= set(kinds)
    validate = tool("kubernetes-validate", "make .venv/dev")
    said = passes(validate, "--strict", rendered)
    assert said.count("passed for resource") == len(kinds), said


@pytest.mark.parametrize("folder", MANIFESTS, ids=lambda folder: folder.name)
def test_pods_are_restricted_have_time_to_stop_and_leave_other_pods_alone(folder: Path) -> None:
    kubectl = tool("kubectl", "no wheel for this platform; install kubectl")
    made = [*yaml.safe_load_all(passes(kubectl, "kustomize", folder))]
    pods = [one["spec"]["template"]["spec"] for one in made if one["kind"] in ("Deployment", "Job")]
    assert len(pods) == 3
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["terminationGracePeriodSeconds"] == STOP_SECONDS
        # Both would put what Rostrum does not know into its environment or /run/secrets.
        assert (pod["enableServiceLinks"], pod["automountServiceAccountToken"]) == (False, False)
        [container] = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        }
        mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert mounted == {"/run/secrets", "/data", "/tmp"}  # noqa: S108 -- in the container
    policies = [one["spec"] for one in made if one["kind"] == "NetworkPolicy"]
    assert len(policies) == 2
    for policy in policies:
        assert policy["podSelector"]["matchLabels"]["app.kubernetes.io/name"] == "rostrum"


def test_caddyfile_by_caddy() -> None:
    caddy, file = tool("caddy", "make .venv/dev"), DEPLOY / "caddy" / "Caddyfile"
    passes(caddy, "validate", "--adapter", "caddyfile", "--config", file)
    passes(caddy, "fmt", "--diff", file)


def test_alerts_by_promtool() -> None:
    promtool = tool("promtool", "it is part of Prometheus; the test suite parses the rules")
    passes(
        promtool, "check", "rules", "--lint=all", "--lint-fatal", "deploy/prometheus/alerts.yaml"
    )
    passes(promtool, "test", "rules", "deploy/prometheus/alerts.test.yaml")


def test_files_of_github_and_compose_by_their_schemas() -> None:
    workflows = sorted(GITHUB.glob("workflows/*.yaml"))
    schema("vendor.github-workflows", *workflows)
    schema("custom.github-workflows-require-timeout", *workflows)
    schema("vendor.dependabot", GITHUB / "dependabot.yml")
    schema("vendor.github-issue-forms", *FORMS)
    schema("vendor.github-issue-config", GITHUB / "ISSUE_TEMPLATE" / "config.yml")
    schema("vendor.compose-spec", DEPLOY / "compose.yaml")
