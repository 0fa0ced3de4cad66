"""The managers whom the operator has listed, each of one workspace."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.slack.install.workspaces import Workspaces


class Managers:
    """Managers beside admins: `TEAM/USER`, or `USER` of the installation's own workspace.

    That is the only workspace there is: of several that installed Rostrum by OAuth, none.
    """

    def __init__(self, workspaces: Workspaces, listed: Sequence[str]) -> None:
        self._workspaces, self._listed = workspaces, tuple(listed)

    async def of(self, team: str) -> tuple[str, ...]:
        """Return the users who manage in a workspace."""
        if not self._listed:
            return ()
        own = await self._workspaces.teams() == (team,)
        return managers_of(self._listed, team, own=own)


def managers_of(listed: Sequence[str], team: str, *, own: bool) -> tuple[str, ...]:
    """Return the users of a list who manage in a workspace, the installation's `own` or not."""
    parted = [entry.rpartition("/") for entry in listed]
    return tuple(user for of, _, user in parted if of == team or (own and not of))
