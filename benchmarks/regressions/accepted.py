"""The base of the comparison, and slowdowns that are accepted since this base: `accepted.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import tomli
from pydantic import BaseModel, ConfigDict, Field

FILE: Final = Path(__file__).with_name("accepted.toml")


class _Row(BaseModel):
    """An accepted slowdown: the name of a path, and its costs as the table printed them."""

    model_config = ConfigDict(extra="forbid")

    row: str
    old: float = Field(gt=0)
    new: float = Field(gt=0)
    reason: str = Field(min_length=20)


class Accepted(BaseModel):
    """The content of the file.

    Attributes:
        base: the revision that the rows were compared with, and the base until a release has a tag.
        accepted: the accepted slowdowns.
    """

    model_config = ConfigDict(extra="forbid")

    base: str
    accepted: tuple[_Row, ...] = ()

    @classmethod
    def read(cls, file: Path = FILE) -> Accepted:
        """Return the content of the file.

        Raises:
            ValueError: the file is invalid.
        """
        return cls.model_validate(tomli.loads(file.read_text("utf-8")))

    def growth(self, base: str) -> Mapping[str, float]:
        """Return the accepted growth of each path, as a share. It is empty for another base than that of the file."""
        return {row.row: row.new / row.old - 1 for row in self.accepted} if base.startswith(self.base) else {}
