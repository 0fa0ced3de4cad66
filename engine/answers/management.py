"""What managers are answered: a community's settings, and its data; Markdown for any chat."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import ClassVar

from engine.answers.answers import Answer, Wording
from engine.answers.statistics import left_out
from engine.debate import Value
from engine.words.phrases import plural

CHANGED = "Changed: {names}."
SETTING = "- `{name}`: {value}"
SETTING_OWN = "- `{name}`: {value} (set here)"
NONE = "none"
UNSET = {"models": NONE, "jurors": NONE, "channels": "all channels", "manager_role": NONE}
NO_CAP = "no cap"
SETTINGS_HOW = "Change one with name=value; the value `default` undoes it."

EXPORTED = ("`{name}` has {n} revealed debate.", "`{name}` has {n} revealed debates.")
NOTHING_TO_EXPORT = (
    "No debate was revealed here yet, so there is nothing to export. Hold one, and export it once "
    "its vote has closed."
)
REHEARSALS_TO_EXPORT = (
    "Only rehearsal debates were revealed here. Their speakers or jurors are not language models, "
    "so exports leave them out. The operator can write them with: "
    "`rostrum export --out FOLDER --include-rehearsal --community {community}`"
)
TOO_LARGE = (
    "The export has {size:.1f} MiB, more than the {most:.1f} MiB that can be sent here. Whoever "
    "runs Rostrum writes it with: `rostrum export --out FOLDER --community {community}`"
)


class SettingLine(Value):
    """A setting as it applies here; `own` when the community has set it itself.

    `value` is written as the setting takes it; empty: no list, no cap, nobody.
    """

    name: str
    value: str
    own: bool


class SettingsAnswer(Answer):
    """Every setting of a community; `changed` names those that have just been changed."""

    private: ClassVar[bool] = True
    settings: tuple[SettingLine, ...]
    changed: tuple[str, ...] = ()

    def without(self, names: Collection[str]) -> SettingsAnswer:
        """Return the same without settings that a platform has nothing for."""
        kept = tuple(line for line in self.settings if line.name not in names)
        return self.model_copy(update={"settings": kept})

    def say(self, chat: Wording) -> Iterator[str]:
        """Name those that were changed, then list them all."""
        if self.changed:
            yield CHANGED.format(names=", ".join(self.changed))
        for setting in self.settings:
            template = SETTING_OWN if setting.own else SETTING
            yield template.format(name=setting.name, value=setting.value or unset(setting.name))
        yield SETTINGS_HOW


def unset(name: str) -> str:
    """Say what applies while nobody has set a setting."""
    return UNSET.get(name, NO_CAP)


class FileAnswer(Answer):
    """A file to hand over, with how many debates are in it; `rehearsals` were left out."""

    private: ClassVar[bool] = True
    name: str
    content: bytes
    debates: int
    rehearsals: int = 0

    def say(self, chat: Wording) -> Iterator[str]:
        """Say what is in the file."""
        yield plural(EXPORTED, self.debates, name=self.name)
        yield from left_out(self.rehearsals)


class NoFileAnswer(Answer):
    """Why there is no file: no debate is revealed, or it has more `bytes` than `bytes_max`.

    `rehearsals` are debates of rehearsal models, which are left out.
    """

    private: ClassVar[bool] = True
    community: str
    bytes: int
    bytes_max: int
    rehearsals: int = 0

    def say(self, chat: Wording) -> Iterator[str]:
        """Say why, and how to get one."""
        if self.bytes:
            size, most = self.bytes / 2**20, self.bytes_max / 2**20
            yield TOO_LARGE.format(size=size, most=most, community=self.community)
        elif self.rehearsals:
            yield REHEARSALS_TO_EXPORT.format(community=self.community)
        else:
            yield NOTHING_TO_EXPORT
