"""The debate engine: formats, floor and journal, panel, votes, datasets. No SDK inside."""
