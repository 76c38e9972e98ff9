"""The live viewer: actions of the page are executed, and the page shows the simulation."""

import json
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import stiction as st
from conftest import skip
from models import BOX, BOX_MASS, GRAVITY, PENDULUM
from stiction.grip import Grip

PATIENCE = 90.0
"""Time limit for a browser without a graphics card [s]."""


def need_viser() -> None:
    try:
        import viser  # noqa: F401
    except ImportError:
        skip("viser is not installed")


def test_a_pulled_body_comes_to_rest_at_the_target_but_for_its_weight() -> None:
    sim = st.Simulation(st.loads(BOX))
    grip = Grip(sim, sim.model.body_id("box"))
    grip.target = np.array([0.5, -0.2, 1.0])
    for _ in range(2000):
        grip.apply()
        sim.step()
    # m ω² sag = m g; four seconds are eighty time constants of the spring.
    sag = GRAVITY / grip.strength**2
    assert np.allclose(grip.point, grip.target - [0, 0, sag], atol=1e-6)
    assert grip.force[2] == pytest.approx(BOX_MASS * GRAVITY, rel=1e-6)
    grip.release()
    assert not sim.wrench.any()


def test_a_pull_beside_the_centre_turns_the_body() -> None:
    sim = st.Simulation(st.loads(BOX))
    corner = sim.body_pose("box").position + [0.1, 0.0, 0.0]
    sim.wrench[1, 5] = 2.0
    grip = Grip(sim, 1, corner)
    grip.target = corner + [0.0, 0.0, 1.0]
    grip.apply()
    force = grip.force
    # The centre of mass is the origin; a force up at +x turns about -y.
    assert np.allclose(sim.wrench[1], [0, -0.1 * force[2], 0, 0, 0, force[2] + 2.0])
    grip.release()
    assert np.array_equal(sim.wrench[1], [0, 0, 0, 0, 0, 2.0])


def test_a_hinge_is_pulled_with_its_effective_mass() -> None:
    sim = st.Simulation(st.loads(PENDULUM))
    grip = Grip(sim, 1)
    grip.target = grip.point + [0.01, 0, 0]
    # Inertia about the hinge over the squared arm is the mass along x; along y and z nothing moves.
    inertia = sim.mass_matrix()[0, 0]
    assert grip.force[0] == pytest.approx(3 * inertia / 0.5**2 * grip.strength**2 * 0.01)


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        ("http://127.0.0.1:8080", "127.0.0.1:8080", True),
        ("http://localhost:9000", "localhost:9000", True),
        ("http://[::1]:8080", "[::1]:8080", True),
        (None, "127.0.0.1:8080", True),
        ("https://evil.example", "127.0.0.1:8080", False),
        ("http://127.0.0.1:3000", "127.0.0.1:8080", False),
        ("http://evil.example:8080", "evil.example:8080", False),
        ("null", "127.0.0.1:8080", False),
        ("file://", "127.0.0.1:8080", False),
        ("http://127.0.0.1:8080", None, False),
        ("", "127.0.0.1:8080", False),
        ("http://127.0.0.1:8080", "127.0.0.1:x", False),
    ],
)
def test_requests_are_of_the_own_page_if_their_origin_is_the_address_asked(
    origin: str | None, host: str | None, own: bool
) -> None:
    from stiction._origin import is_own

    assert is_own(origin, host) is own


def test_a_viewer_listens_to_this_machine_alone() -> None:
    need_viser()
    from stiction.viewer import Viewer

    for host in ["0.0.0.0", "192.168.0.1", "example.org", "::"]:
        with pytest.raises(ValueError, match="loopback"):
            Viewer(st.Simulation(st.loads(BOX)), host=host)


def test_a_foreign_page_cannot_open_a_connection(open_viewer: Callable[[st.Simulation], Any]) -> None:
    viewer = open_viewer(st.Simulation(st.loads(BOX)))
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    from websockets.typing import Origin, Subprotocol

    address = viewer.url.replace("http", "ws")
    protocol = [Subprotocol("viser-v0")]
    with pytest.raises(InvalidStatus, match="403"):
        connect(address, origin=Origin("https://evil.example"), subprotocols=protocol)
    with connect(address, origin=Origin(viewer.url), subprotocols=protocol) as connection:
        assert connection.response is not None and connection.response.status_code == 101


@pytest.fixture
def open_viewer() -> Iterator[Callable[[st.Simulation], Any]]:
    need_viser()
    from stiction.viewer import Viewer

    opened: list[Any] = []

    def make(sim: st.Simulation) -> Any:
        opened.append(Viewer(sim, port=8180))
        return opened[-1]

    yield make
    for viewer in opened:
        viewer.close()


def test_steps_follow_the_speed_and_stop_in_a_pause(open_viewer: Any) -> None:
    sim = st.Simulation(st.loads(BOX))
    viewer = open_viewer(sim)
    viewer.speed = 2.0
    for _ in range(30):
        viewer.step()
    # Thirty frames are a second; fractions of a step are made in the next frame.
    assert sim.time == pytest.approx(2.0, abs=sim.time_step + 1e-9)
    viewer.paused = True
    before = sim.time
    assert viewer.step() is None and sim.time == before
    viewer.single_step()
    assert sim.time == pytest.approx(before + sim.time_step)
    viewer.reset()
    assert sim.time == 0.0 and viewer.report is None
    viewer.close()
    assert not viewer.is_open


def test_a_viewer_pulls_the_given_body(open_viewer: Any) -> None:
    sim = st.Simulation(st.loads(BOX))
    viewer = open_viewer(sim)
    viewer.select("box")
    viewer.pull("box", np.array([0.0, 0.0, 0.6]))
    for _ in range(60):
        viewer.step()
    assert sim.body_pose("box").position[2] > 0.4
    viewer.release()
    for _ in range(60):
        viewer.step()
    assert sim.body_pose("box").position[2] == pytest.approx(0.1, abs=1e-3)
    assert not sim.wrench.any()


def test_sliders_have_the_ranges_of_the_actuators_and_follow_the_controls(open_viewer: Any) -> None:
    sim = st.Simulation(st.loads(PENDULUM))
    viewer = open_viewer(sim)
    panel = viewer._panel
    (slider,) = panel.controls.sliders
    assert (slider.min, slider.max, slider.label) == (-5.0, 5.0, "torque")
    sim.ctrl[0] = 2.5
    panel.update()
    assert slider.value == 2.5
    # A message of the page, as viser passes it on.
    event = SimpleNamespace(client=object(), target=SimpleNamespace(value=-1.5))
    for listen in slider._impl.update_cb:
        listen(event)
    viewer.step()
    assert sim.ctrl[0] == -1.5


class Page:
    """The viewer's page in a browser, while the test runs the step loop."""

    def __init__(self, viewer: Any, driver: Any) -> None:
        self.viewer, self.driver = viewer, driver

    def wait(self, what: str, done: Callable[[], Any]) -> None:
        """Runs the viewer until a condition holds."""
        deadline = time.monotonic() + PATIENCE
        while not done():
            assert time.monotonic() < deadline, f"waited in vain for {what}"
            self.viewer.step()
            time.sleep(0.1)  # drawing without a graphics card must keep up

    def press(self, label: str) -> None:
        for button in self.driver.find_elements("tag name", "button"):
            if button.text.strip() == label:
                self.driver.execute_script("arguments[0].click()", button)
                return
        raise AssertionError(f"there is no button {label!r}")

    def text(self) -> str:
        return str(self.driver.find_element("tag name", "body").text)

    def picture(self) -> np.ndarray[Any, Any]:
        """The page as colours, without the panel."""
        from PIL import Image

        shot = Image.open(BytesIO(self.driver.get_screenshot_as_png())).convert("RGB")
        return np.asarray(shot)[:, : int(0.55 * shot.width)].astype(int)


    def wait_until_it_stands(self) -> np.ndarray[Any, Any]:
        """A non-empty picture equal to the previous one."""
        seen: list[np.ndarray[Any, Any]] = []

        def stands() -> bool:
            seen.append(self.picture())
            return len(seen) > 1 and np.ptp(seen[-1]) > 60 and not (seen[-1] != seen[-2]).any()

        self.wait("a picture that stands", stands)
        return seen[-1]

    def requests_elsewhere(self) -> list[str]:
        """Requests of the page to other servers than the viewer."""
        asked: list[str] = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                asked.append(message["params"].get("request", message["params"])["url"])
        assert asked, "the log of requests is empty"
        own = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:", "chrome:")
        return [url for url in asked if not url.startswith(own)]


@pytest.fixture
def open_page(driver: Any, open_viewer: Any) -> Callable[[st.Simulation], Page]:
    def make(sim: st.Simulation) -> Page:
        viewer = open_viewer(sim)
        driver.get_log("performance")  # drops the requests of other pages
        driver.get(viewer.url)
        return Page(viewer, driver)

    return make


def test_the_page_shows_the_bodies_and_its_buttons_act(open_page: Any) -> None:
    sim = st.Simulation(st.scenario("stack"))
    page = open_page(sim)
    viewer = page.viewer
    page.wait("a client", lambda: viewer.server.get_clients())
    page.wait("the panel", lambda: "Real-time factor" in page.text())

    def colours() -> int:
        return len(np.unique(page.picture().reshape(-1, 3), axis=0))

    page.wait("a picture with bodies", lambda: colours() > 100)
    page.press("Pause")
    page.wait("the pause", lambda: viewer.paused)
    page.wait("the button to play on", lambda: "Play" in page.text())
    before = sim.time
    page.press("Step")
    page.wait("a single step", lambda: sim.time > before)
    assert sim.time == pytest.approx(before + sim.time_step) and viewer.paused
    page.wait("the time of the step", lambda: f"{sim.time:.3f} s" in page.text())
    page.press("Play")
    page.wait("motion", lambda: sim.time > before + 10 * sim.time_step)
    page.press("Reset")
    page.wait("the start", lambda: sim.time < before)
    assert page.requests_elsewhere() == []


def test_moving_bodies_move_in_the_page(open_page: Any) -> None:
    page = open_page(st.Simulation(st.loads(BOX)))
    viewer, sim = page.viewer, page.viewer.sim
    viewer.paused = True
    page.wait("a client", lambda: viewer.server.get_clients())
    before = page.wait_until_it_stands()
    sim.qpos[:3] += [0.0, 0.1, 0.15]

    def moved() -> bool:
        change = np.abs(page.picture() - before).max(axis=2) > 30
        return bool(change.mean() > 0.002)

    page.wait("a picture that changed", moved)


def test_arrows_appear_in_the_page_when_they_are_switched_on(open_page: Any) -> None:
    page = open_page(st.Simulation(st.loads(BOX)))
    viewer = page.viewer
    viewer.sim.step(200)
    viewer.paused = True
    viewer._scene.force_scale *= 5
    page.wait("a client", lambda: viewer.server.get_clients())
    page.wait("the panel", lambda: "Contact forces" in page.text())
    before = page.wait_until_it_stands()
    label = page.driver.find_element("xpath", "//label[contains(., 'Contact forces')]")
    box = page.driver.find_element("id", label.get_attribute("for"))
    page.driver.execute_script("arguments[0].click()", box)
    page.wait("forces that are switched on", lambda: viewer._scene.shown["forces"])
    # Arrows of four corners, each some pixels wide and a good part of the box long.
    page.wait("arrows", lambda: (np.abs(page.picture() - before).max(axis=2) > 30).sum() > 100)
    assert page.requests_elsewhere() == []


def test_a_body_that_is_dragged_in_the_page_follows(open_page: Any) -> None:
    from selenium.webdriver import ActionChains, Keys

    page = open_page(st.Simulation(st.loads(BOX)))
    viewer, sim = page.viewer, page.viewer.sim
    page.wait("a client", lambda: viewer.server.get_clients())
    page.wait("a picture", lambda: np.ptp(page.picture()) > 60)
    canvas = page.driver.find_element("tag name", "canvas")

    # The box is at the look-at point of the camera, in the middle of the canvas. Its weight stretches the
    # spring by g / ω², about a quarter of its height.
    hand = ActionChains(page.driver).move_to_element(canvas).key_down(Keys.CONTROL).click_and_hold()
    for _ in range(5):
        hand.move_by_offset(0, -20)
    hand.perform()
    page.wait("a pull", lambda: viewer.grip is not None and viewer.grip.target[2] > 0.2)
    page.wait("a body that follows", lambda: sim.body_pose("box").position[2] > 0.12)
    ActionChains(page.driver).release().key_up(Keys.CONTROL).perform()
    page.wait("a body that is let go", lambda: viewer.grip is None)
    assert not sim.wrench.any()
