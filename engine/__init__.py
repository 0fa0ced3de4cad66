"""The debate engine: formats, stage and journal, panel, votes, datasets. No SDK inside."""
