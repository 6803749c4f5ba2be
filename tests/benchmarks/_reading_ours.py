"""Read one file with its source and do nothing with the rows; print as JSON."""

import json
import sys
import time
from datetime import UTC
from pathlib import Path

from _peak import peak_mb  # type: ignore[import-not-found]

from ingest.files import head_of, open_expanded, recognize
from ingest.sources import SOURCES, Reading


def main(path: Path) -> None:
    """Recognize, read, and count rows."""
    reading = Reading(
        path=str(path),
        name=path.name,
        file_id="0123456789abcdef",
        zone=UTC,
        zone_basis="assumed",
        run_id="run",
        run_id_basis="option",
        cluster="cluster",
        modified_ns=0,
    )
    source = recognize(head_of(path), SOURCES)
    assert source is not None
    began, cpu_began = time.perf_counter(), time.process_time()
    rows = 0
    with open_expanded(path) as stream:
        for batch in source.read(stream, reading):
            rows += sum(frame.height for frame in batch.rows.values())
    ended, cpu_ended = time.perf_counter(), time.process_time()
    told = {
        "total_s": ended - began,
        "cpu_s": cpu_ended - cpu_began,
        "peak_mb": peak_mb(),
        "rows": rows,
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
