"""Pages from every way to write them: the command, the package's command, a recording in Python, and
the page that STICTION_PAGE names. Each shows bodies, moves them, draws forces and makes no requests."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from conftest import ROOT, command, need

RUN = ["run", "clutter", "--time", "1.2", "--record"]

PYTHON = """
import sys
import stiction as st

sim = st.Simulation(st.scenario("clutter"))
recording = sim.record()
sim.step(round(1.2 / sim.time_step))
recording.save(sys.argv[1])
"""


def by_command(page: Path) -> None:
    subprocess.run([*command(), *RUN, str(page)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def package() -> None:
    """The package that is installed, not the sources beside it."""
    found = subprocess.run([sys.executable, "-c", "import stiction"], cwd="/", capture_output=True, check=False)
    need("the package stiction is not installed" if found.returncode else None)


def by_package_command(page: Path) -> None:
    package()
    script = shutil.which("stiction", path=sysconfig.get_path("scripts"))
    need(None if script else "the package's command is not installed")
    subprocess.run([str(script), *RUN, str(page)], cwd=page.parent, check=True, stdout=subprocess.DEVNULL)


def by_recording(page: Path) -> None:
    package()
    subprocess.run([sys.executable, "-c", PYTHON, str(page)], cwd=page.parent, check=True)


def by_somebody(page: Path) -> None:
    given = os.environ.get("STICTION_PAGE")
    if not given:
        pytest.skip("STICTION_PAGE is not set: no page to look at")
    shutil.copy(given, page)


MAKERS = {
    "command": by_command,
    "package's command": by_package_command,
    "recording in Python": by_recording,
    "STICTION_PAGE": by_somebody,
}


@pytest.fixture(scope="module", params=MAKERS)
def page(request, tmp_path_factory, machine):
    path = tmp_path_factory.mktemp("made") / "run.html"
    MAKERS[request.param](path)
    return path


def test_the_page_holds_everything_it_needs(page):
    text = page.read_text()
    assert "default-src 'none'" in text
    head = text[: text.index('id="recording"')]
    assert "<link" not in head.replace('<link rel="icon" href="data:,">', "")
    assert " src=" not in head.split("<script")[0]


def test_bodies_are_visible_and_the_timeline_moves_them(browser, page):
    assert browser.open(page) == "ready"
    count = browser.run("return window.stiction.recording.count")
    assert count > 60
    assert browser.run("return window.stiction.recording.moving.length") > 5
    browser.seek(0)
    first = browser.picture()
    assert first["drawn"] > 0.01 * first["size"]
    browser.run(
        """const slider = document.getElementById('scrub');
        slider.value = Math.floor(slider.max / 2); slider.dispatchEvent(new Event('input'))"""
    )
    later = browser.picture()
    # Largest change of brightness on the raster, of 255.
    assert max(abs(a - b) for a, b in zip(first["raster"], later["raster"], strict=True)) > 5
    assert browser.errors() == []


def test_arrows_appear(browser, page):
    browser.open(page)
    browser.seek(1)
    before = browser.picture()
    assert browser.run("return window.stiction.renderer.arrows.n") == 0
    browser.driver.find_element("id", "forces").click()
    assert browser.run("return window.stiction.renderer.arrows.n") > 10
    assert browser.picture()["blue"] > before["blue"] + 20


def test_plots_follow_the_cursor(browser, page):
    browser.open(page)
    readings = set()
    for part in (0.2, 0.5, 0.9):
        browser.seek(part)
        readings.add(browser.run("return [...document.querySelectorAll('.legend b')].map((b) => b.textContent).join()"))
    assert len(readings) == 3


def test_no_request_leaves(browser, page):
    browser.open(page)
    browser.seek(0.5)
    browser.driver.execute_async_script("setTimeout(arguments[0], 300)")
    assert browser.requests() == []
