"""A browser without a window, and pages to show in it.

Needs Debian's `chromium` and `chromium-driver`, and Selenium; without one of them every test here is
skipped, and says so; with CI=true it fails.
"""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]


def command() -> list[str]:
    """The command `stiction`, built before or now."""
    cargo = ["cargo", "build", "--release", "-q", "-p", "stiction-cli"]
    subprocess.run(cargo, cwd=ROOT, check=True)
    return [str(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "stiction")]


def example(name: str, *arguments: str) -> None:
    """Runs an example of the crate, built before or now."""
    folder = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    built = Path(folder) / "release" / "examples" / name
    cargo = ["cargo", "run", "--release", "-q", "-p", "stiction-view", "--example", name, "--"]
    command = [str(built)] if os.environ.get("STICTION_BUILT") and built.exists() else cargo
    subprocess.run([*command, *arguments], cwd=ROOT, check=True)


class Browser:
    """A page in a browser, with its errors."""

    def __init__(self, profile: Path, extra: tuple[str, ...] = (), size: tuple[int, int] = (960, 560)):
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service

        options = Options()
        options.binary_location = shutil.which("chromium")
        flags = [*FLAGS, *extra, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}"]
        for flag in flags:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))

    def open(self, page: Path) -> str:
        """Opens a page, waits until it is ready, and returns its state."""
        self.driver.get_log("browser"), self.driver.get_log("performance")
        self.driver.get("about:blank")
        self.driver.get(f"{page.as_uri()}#draft")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            state = self.run("return document.body && document.body.dataset.state")
            if state:
                return state
            time.sleep(0.05)
        raise AssertionError(f"{page} is not ready: {self.errors()}")

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def seek(self, part: float) -> None:
        """Seeks to a fraction of the recording's time."""
        self.run(
            """const { player, recording } = window.stiction;
            player.seek(recording.begin + arguments[0] * (recording.end - recording.begin))""",
            part,
        )

    def text(self, element: str) -> str:
        return self.run("return document.getElementById(arguments[0]).textContent", element)

    def errors(self) -> list[str]:
        """Errors in the console since the page was opened."""
        return [e["message"] for e in self.driver.get_log("browser") if e["level"] == "SEVERE"]

    def requests(self) -> list[str]:
        """All requests since the page was opened, except for the page itself."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                found.append(message["params"].get("request", message["params"])["url"])
        return [url for url in found if not url.startswith(("file:", "data:", "blob:", "chrome:"))]

    def picture(self) -> dict:
        """Draws the page's picture now; returns its size, how many pixels differ from the
        background, and brightness on a coarse raster."""
        return self.run(
            """
            const { renderer, camera } = window.stiction, { gl } = renderer;
            renderer.draw(camera);
            const [w, h] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
            const p = new Uint8Array(4 * w * h);
            gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, p);
            const back = renderer.theme.ground.map((c) => 255 * c);
            const raster = new Array(48 * 32).fill(0);
            let drawn = 0, blue = 0, red = 0;
            for (let y = 0; y < h; y++) for (let x = 0; x < w; x++) {
              const i = 4 * (y * w + x);
              if (Math.abs(p[i] - back[0]) > 40 || Math.abs(p[i + 2] - back[2]) > 40) drawn++;
              if (p[i + 2] > 1.8 * p[i] && p[i + 2] > 140) blue++;
              if (p[i] > 1.9 * p[i + 2] && p[i] > 170 && p[i + 1] < 120) red++;
              raster[Math.floor(y * 32 / h) * 48 + Math.floor(x * 48 / w)] += (p[i] + p[i + 1] + p[i + 2]) * 48 * 32 / (3 * w * h);
            }
            return { size: w * h, drawn, blue, red, raster };
            """
        )

    def close(self) -> None:
        self.driver.quit()


def missing() -> str | None:
    """Requirements of the tests that this machine lacks."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "Selenium is not installed"
    return None


def need(lack: str | None) -> None:
    """Skips if a requirement is missing, or fails where all are expected."""
    if lack is None:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI=true, but {lack}")
    print(f"skipped: {lack}")
    pytest.skip(lack)


@pytest.fixture(scope="session")
def machine() -> None:
    """A machine that can show pages."""
    need(missing())


@pytest.fixture(scope="session")
def pages(tmp_path_factory, machine) -> Path:
    """A folder of pages."""
    folder = tmp_path_factory.mktemp("pages")
    example("specimens", str(folder))
    run = [*command(), "run", "clutter", "--time", "1.2", "--record", str(folder / "clutter.html")]
    subprocess.run(run, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    pads = [*command(), "run", "examples/scenes/pads.toml", "--time", "1", "--record", str(folder / "pads.html")]
    subprocess.run(pads, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture(scope="session")
def browser(machine, tmp_path_factory):
    """A browser for all tests."""
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()
