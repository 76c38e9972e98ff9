"""What the tests share: where the data sets are, and a way to skip without them."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def shared() -> Path | None:
    """The folder of data sets, if there is one."""
    folder = os.environ.get("STICTION_SHARED")
    return Path(folder) if folder else None


@pytest.fixture
def data_sets() -> Path:
    """The folder of data sets; skips without it."""
    folder = shared()
    if folder is None:
        pytest.skip("STICTION_SHARED is not set: no data sets to read")
    return folder
