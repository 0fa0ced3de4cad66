"""Pictures as SVG: shapes, and how wide letters are."""
