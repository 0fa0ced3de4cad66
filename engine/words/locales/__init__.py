"""Catalogues of what threads show, one TOML file a language."""
