"""What no page of ours may do: complain in the console, call another host, break its own policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import BrowserContext, ConsoleMessage, Request

# A page's policy is tested also where a broken one would only leave something out.
TELL_VIOLATIONS = """
document.addEventListener('securitypolicyviolation', (event) => console.error(
  `CSP: ${event.effectiveDirective} forbids ${event.blockedURI} in ${event.sourceFile}`
));
"""
NOT_LOADED = "Failed to load resource: the server responded with a status of "
INSIDE = ("data:", "blob:", "about:")


@dataclass  # without slots: Playwright keeps something at it
class Guard:
    """Watches the pages of a context. Only what starts with an `origin` may be asked for.

    `expected` are statuses of answers that are failures on purpose.
    """

    origins: set[str] = field(default_factory=set)
    expected: set[int] = field(default_factory=set)
    complaints: list[str] = field(default_factory=list)

    async def watch(self, context: BrowserContext) -> None:
        """Watch every page of a context from now on."""
        await context.add_init_script(TELL_VIOLATIONS)
        context.on("console", self._hear)
        context.on("request", self._see)
        context.on("weberror", lambda error: self.complaints.append(f"exception: {error.error}"))

    def assert_quiet(self) -> None:
        """Fail if a page did what it may not do."""
        assert not self.complaints, "\n".join(self.complaints)

    def _hear(self, said: ConsoleMessage) -> None:
        text: str = said.text
        if said.type not in ("error", "warning") or self._is_expected(text):
            return
        if said.location["url"].endswith("/favicon.ico"):  # asked for beside what is no page
            return
        self.complaints.append(f"console {said.type}: {text} ({said.location})")

    def _is_expected(self, text: str) -> bool:
        return any(text.startswith(f"{NOT_LOADED}{status} ") for status in self.expected)

    def _see(self, request: Request) -> None:
        url: str = request.url
        if not url.startswith((*INSIDE, *self.origins)):
            self.complaints.append(f"request: {request.method} {url}")


def brief(violation: dict[str, Any]) -> str:
    """Return a violation of axe's in a few lines."""
    nodes = [f"    {node['target']} {node['html'][:160]}" for node in violation["nodes"][:5]]
    return "\n".join([f"{violation['id']} ({violation['impact']}): {violation['help']}", *nodes])
