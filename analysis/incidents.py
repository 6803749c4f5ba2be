"""One row per cause on a node or fabric."""

from typing import ClassVar

from ingest.tables import Table
from ingest.tables import _columns as c


class Incidents(Table):
    """One row per cause on a node or fabric."""

    key: ClassVar = ("incident_id",)

    incident_id = c.identifier("Incident.")
    cluster = c.identifier("Cluster of the node.")
    host = c.identifier("Node; null where no source tells.", nullable=True)
    gpu_key = c.identifier("GPU of the root event.", nullable=True)
    first_ns = c.time_ns("First event.", nullable=True)
    last_ns = c.time_ns("Last event.", nullable=True)
    root_source = c.identifier("Family of the root code.")
    root_code = c.identifier("Code that started it.")
    name = c.text("Meaning of the code.")
    component = c.identifier("Component at fault.", nullable=True)
    role = c.choice(
        "What the incident is in the chain of causes.",
        ("root", "cascade", "user", "symptom"),
    )
    lines = c.tally("Lines of the sources.")
    events = c.tally("Events: same GPU and code within the gap.")
