"""Whose language is spoken, and the commands' names and descriptions from the tables in locales/.

Each table maps an English text to its translation; texts missing in a table stay English. A
person's Discord client picks the language.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from discord import Client, Interaction, Locale, app_commands

from engine.values.language import ENGLISH
from engine.words.translation import catalogue

TABLES = {
    Locale.turkish: "tr",
    Locale.german: "de",
    Locale.spain_spanish: "es",
    Locale.latin_american_spanish: "es",
    Locale.chinese: "zh",
}


@cache
def table(language: str) -> Mapping[str, str]:
    """Return a language's table."""
    forms = catalogue(language, "adapters.discord")
    return {text: form for text, form in forms.items() if isinstance(form, str)}


def language_of(interaction: Interaction[Client]) -> str:
    """Return the language of the person's client."""
    return str(interaction.locale.value)


def language_around(interaction: Interaction[Client]) -> str:
    """Return the language of the server, for what everyone there reads."""
    locale = interaction.guild_locale
    return str(locale.value) if locale else ENGLISH


class Translator(app_commands.Translator):
    """Looks up the commands' texts in the tables."""

    async def translate(
        self,
        string: app_commands.locale_str,
        locale: Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        """Return a text's translation, None for a language without a table."""
        language = TABLES.get(locale)
        return None if language is None else table(language).get(string.message)
