"""Settings: `gpuledger.toml` in the working folder, then GPULEDGER_*, then options."""

import os
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings.exceptions import SettingsError

from ingest.card_parts import MOST_USD
from ingest.errors import SettingError
from ingest.times import parse_zone

#: File of settings in the working folder.
SETTINGS_FILE: Final = "gpuledger.toml"

#: Prefix of the environment variables that set them.
PREFIX: Final = "GPULEDGER_"

#: Variables with the prefix that are no settings: the tests' and benchmarks' own.
_NOT_SETTINGS: Final = frozenset({"GPULEDGER_SHARED", "GPULEDGER_HTA_PYTHON"})

#: Price of a GPU-hour where nobody gave one: the convention of DeepSeek-V3's report.
DEFAULT_USD_PER_GPU_HOUR: Final = Decimal("2.0")


#: Rows of an owner from which its days are condensed one by one: those of 1,024 ranks
#: over a day and a half. Fewer are quick to go through as they are. [1]
BY_DAY_ROWS: Final = 20_000_000


class Settings(BaseSettings):
    """What an operator may set; an unknown name is refused."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, toml_file=SETTINGS_FILE, extra="forbid", frozen=True
    )

    lake: Path = Field(Path("lake"), description="Folder of the lake.")
    cluster: Annotated[str, Field(min_length=1)] = Field(
        "default", description="Cluster of telemetry without a run card."
    )
    zone: str | None = Field(None, description="Zone of naive time stamps.")
    usd_per_gpu_hour: Annotated[Decimal, Field(ge=0, le=int(MOST_USD))] = Field(
        DEFAULT_USD_PER_GPU_HOUR,
        description="Price of a GPU-hour where no run card gives one. [USD]",
    )
    mapping: tuple[Path, ...] = Field(
        (), description="Mappings for files that no source knows."
    )
    jobs: Annotated[int, Field(ge=1)] = Field(
        default_factory=lambda: min(4, os.cpu_count() or 1),
        description="Batches of files that are read at once, and windows of a day that"
        " are condensed at once.",
    )
    by_day_rows: Annotated[int, Field(ge=0)] = Field(
        BY_DAY_ROWS,
        description="Rows of a run's steps or a cluster's power from which they are"
        " condensed by day before they are analysed.",
    )
    keep_raw: str | None = Field(
        None,
        description="Days before the newest whose raw steps and power a night keeps, as"
        " in 7d; it retires older ones that rollups cover, and merges small parts.",
    )
    grace_s: Annotated[float, Field(ge=0)] = Field(
        3600.0, description="Time that replaced parts are kept for readers. [s]"
    )
    unpacked_gib: Annotated[int, Field(ge=1)] = Field(
        256, description="Content of archives that one ingest unpacks. [GiB]"
    )
    archive_entries: Annotated[int, Field(ge=1)] = Field(
        100_000, description="Files of an archive that are read."
    )
    claim_window_days: Annotated[float, Field(ge=0, le=3660)] = Field(
        10.0,
        description="Days from the first sign of an incident within which to claim: the"
        " shortest window known of a provider. [d]",
    )
    thresholds: dict[str, float] = Field(
        default_factory=dict,
        description="Thresholds of analyses by name, as `gpuledger report` lists them.",
    )

    @field_validator("zone")
    @classmethod
    def _zone_exists(cls, zone: str | None) -> str | None:
        if zone is not None:
            try:
                parse_zone(zone)
            except SettingError as error:
                message = str(error).partition(";")[0].partition(": ")[2]
                raise ValueError(message) from error
        return zone

    @classmethod
    def settings_customise_sources(  # noqa: D102
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load(**options: Any) -> Settings:
    """Read the settings once, at the edge of the program.

    Args:
        options: Values from the command line; None means not given.

    Raises:
        SettingError: If a name is unknown or a value cannot be used.
    """
    _refuse_unknown_variables()
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        raise SettingError(_first_fault(error)) from error
    except (SettingsError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())
        message = f"{SETTINGS_FILE} or {PREFIX}*: {reason}; correct it"
        raise SettingError(message) from error


def _refuse_unknown_variables() -> None:
    known = {PREFIX + name.upper() for name in Settings.model_fields} | _NOT_SETTINGS
    for name in sorted(os.environ):
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            message = (
                f"{name}: unknown setting; unset it, or use one of"
                f" {', '.join(sorted(known - _NOT_SETTINGS))}"
            )
            raise SettingError(message)


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        known = ", ".join(sorted(Settings.model_fields))
        return f"{SETTINGS_FILE}: {name}: unknown setting; use one of {known}"
    return (
        f"{name}: {fault['msg']}, found {fault['input']!r}; correct the option,"
        f" {PREFIX}{str(fault['loc'][0]).upper()} or {SETTINGS_FILE}"
    )
