"""`rostrum check` on the day of the whole installation: what is spent of it, and its cap."""

from __future__ import annotations

from collections.abc import AsyncIterator

from adapters.finding import Finding
from bot.reading import read_store
from bot.settings.settings import Settings
from engine.store.usage import Day
from engine.values.errors import StoreError
from engine.values.ports import utc_now

OPEN = (
    "others can add this bot, and each server or workspace has a day's money of its own; set "
    "ROSTRUM_BUDGET__INSTALLATION_DAILY_USD to cap all of them together, or {allowing}"
)


async def check_day(settings: Settings) -> AsyncIterator[Finding]:
    """Say what all communities together have spent today, or that nothing caps it."""
    cap = settings.budget.installation_daily_usd
    if cap is not None:
        day = await _read_day(settings)
        text = f"today {day.spent:.2f} USD spent and {day.reserved:.2f} reserved, of {cap:.2f} USD"
        yield Finding("budget", True if day.held < cap else None, text)
        return
    if settings.discord.token is not None and not settings.discord.guild_ids:
        allowing = "switch Public Bot off, or list your servers in ROSTRUM_DISCORD__GUILD_IDS"
        yield Finding("budget", None, OPEN.format(allowing=allowing))
    if settings.slack.client_id is not None and not settings.slack.allowed_teams:
        allowing = "list the workspaces in ROSTRUM_SLACK__ALLOWED_TEAMS"
        yield Finding("budget", None, OPEN.format(allowing=allowing))


async def _read_day(settings: Settings) -> Day:
    """Return today's money; none without a database."""
    try:
        async with read_store(settings) as store:
            return await store.usage.day(utc_now())
    except StoreError:
        return Day()
