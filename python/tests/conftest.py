"""Shared by the tests: the folder of the data sets, a browser, and skipping without them."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--window-size=800,480",
]


def skip(reason: str) -> None:
    """Skips the test with a reason; with CI=true it fails instead."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI=true, but {reason}")
    pytest.skip(reason)


def shared() -> Path | None:
    """The folder of data sets, if there is one."""
    folder = os.environ.get("STICTION_SHARED")
    return Path(folder) if folder else None


@pytest.fixture
def data_sets() -> Path:
    """The folder of data sets; skips without it."""
    folder = shared()
    if folder is None:
        skip("STICTION_SHARED is not set; see CONTRIBUTING.md, Data sets")
    assert folder is not None
    return folder


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser without a window; skips without one."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            skip(f"{program} is not installed")
    try:
        from selenium import webdriver
    except ImportError:
        skip("Selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()
