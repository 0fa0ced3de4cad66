"""People: the platform's own id is in one table, whatever else is stored."""

from adapters.database.database import SqlDatabase
from engine.store import Closing, Store
from engine.store.database import SqlConnection
from engine.store.tables import metadata
from tests.kit import NOW, ballot, cast, new_debate, notice, run, turn, turn_post, verdict, vote

CANARIES = ("canary-starter-4417", "canary-voter-9902")


def _tables_that_hold(connection: SqlConnection, canary: str) -> set[str]:
    return {
        table.name
        for table in metadata.sorted_tables
        for row in connection.rows(f'SELECT * FROM "{table.name}"')  # noqa: S608
        if any(canary in str(value) for value in row)
    }


async def test_a_platforms_user_id_is_kept_in_the_mapping_alone(
    store: Store, database: SqlDatabase
) -> None:
    starter, voter = CANARIES
    r = await run(store, new_debate(user=starter))
    await r.call("turn/round1/A")
    await store.journal.record_turn(r.lease, r.id, turn(), turn_post())
    await store.journal.record_verdict(r.lease, r.id, verdict(), {"jury/oak/AB": ballot()})
    await r.open_vote()
    await store.votes.cast(cast(voter, event="e1"))
    person = (await store.votes.people("chat", CANARIES))[voter]
    closing = Closing(votes=(vote(person),), posts=(notice("reveal"),))
    await store.votes.close(r.lease, r.id, NOW, False, lambda _: closing)
    for canary in CANARIES:
        with database.snapshot() as connection:
            found = _tables_that_hold(connection, canary)
        assert found == {"people"}
