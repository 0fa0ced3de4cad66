"""What people read, as Babel finds it in the source, and the catalogues of its translations.

`make catalogues` brings each catalogue up to date: new texts come in without a translation, and
those that no one says any more go.
"""

import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

from babel.messages.catalog import Catalog, Message
from babel.messages.frontend import CommandLineInterface
from babel.messages.pofile import read_po, write_po

from engine.words.translation import LANGUAGES

ROOT = Path(__file__).parents[1]
LOCALES = ROOT / "engine/words/locales"
BABEL = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["babel"]
# Modules where only operators read what errors say, and folders of such.
FOR_OPERATORS = tuple(path.removesuffix("/**.py") for path in BABEL["mappings"][0]["pattern"])
EXTRACT = (
    *("pybabel", "--quiet", "extract", "--mapping", "pyproject.toml", "--no-default-keywords"),
    *("--keyword", "say", "--add-location", "file", "--sort-by-file", "--output"),
)


def extracted() -> Catalog:
    """Return every text in the source, as Babel finds it by pyproject.toml; slow."""
    with TemporaryDirectory() as folder:
        template = Path(folder, "messages.pot")
        cli = CommandLineInterface()
        cli.run([*EXTRACT, str(template), "."])  # type: ignore[no-untyped-call]
        return read(template)


def read(file: Path) -> Catalog:
    """Read a file of gettext's. Raises PoFileError."""
    with file.open("rb") as opened:
        return read_po(opened, abort_invalid=True)


def update(file: Path, template: Catalog) -> int:
    """Bring a catalogue up to date; return how many of its texts have no translation."""
    header = file.read_text("utf-8").partition("\n\n")[0]
    catalog = read(file)
    catalog.update(template, no_fuzzy_matching=True)
    catalog.obsolete.clear()
    for message in catalog:
        message.flags.discard("python-format")  # “95 % intervals” is none
    with file.open("wb") as opened:
        opened.write(f"{header}\n\n".encode())
        write_po(
            opened, catalog, width=0, omit_header=True, sort_by_file=True, include_lineno=False
        )
    return sum(not all(forms_of(message)) for message in catalog if message.id)


def forms_of(message: Message) -> tuple[str, ...]:
    """Return a translation in each of its forms: one, or as many as the language's plural has."""
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


if __name__ == "__main__":
    found = extracted()
    for language in LANGUAGES:
        lacking = update(LOCALES / f"{language}.po", found)
        print(f"{LOCALES.relative_to(ROOT)}/{language}.po: {lacking} texts to translate")
