"""The Store port over SQLAlchemy Core: one set of tables, migrated by Alembic."""
