"""Commands, settings and flows: the only package that knows Prefect."""

from importlib.util import find_spec
from pathlib import Path

from pipeline._memory import give_back


def _refuse_impostors() -> None:
    """Fail early where a folder on PYTHONPATH hides one of the project's packages."""
    home = Path(__file__).resolve().parents[1]
    for package in ("ingest", "analysis", "reports"):
        spec = find_spec(package)
        origin = spec.origin if spec else None
        if origin is None or Path(origin).resolve().parents[1] != home:
            message = (
                f"{origin or 'a folder without code'} hides the package {package!r} of"
                f" {home}; take its folder off PYTHONPATH"
            )
            raise ImportError(message)


_refuse_impostors()
give_back()
