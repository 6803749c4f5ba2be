"""Write the sample runs: `python -m ingest.synthetic SEED FOLDER`."""

import argparse
from pathlib import Path

from ingest.synthetic.hang16 import write_hang16
from ingest.synthetic.pipe8 import write_pipe8
from ingest.synthetic.sample import write_sample


def main() -> None:
    """Read the command line and write the samples."""
    parser = argparse.ArgumentParser(prog="python -m ingest.synthetic")
    parser.add_argument("seed", type=int, help="seed of every random draw")
    parser.add_argument(
        "folder", type=Path, help="where pod16, pipe8, hang16 and their truth go"
    )
    arguments = parser.parse_args()
    write_sample(arguments.folder, arguments.seed)
    write_pipe8(arguments.folder, arguments.seed)
    write_hang16(arguments.folder, arguments.seed)


if __name__ == "__main__":
    main()
