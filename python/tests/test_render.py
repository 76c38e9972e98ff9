"""Pictures of a simulation: geometry against closed forms, cameras of files, Gymnasium, bad input."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import stiction as st

SCENE = """
<mujoco><worldbody>
  <geom name="floor" type="plane" size="5 5 1"/>
  <camera name="above" pos="0 0 4" fovy="40"/>
  <body name="ball" pos="0.5 0 1"><freejoint/><geom name="round" size="0.3" rgba="1 0 0 1"/>
    <camera name="down" pos="0 0 -0.4" fovy="60"/>
  </body>
</worldbody></mujoco>"""


@pytest.fixture(scope="module")
def simulation() -> st.Simulation:
    return st.Simulation(st.loads(SCENE))


def test_depth_and_segmentation_are_those_of_the_geometry(simulation: st.Simulation) -> None:
    image = simulation.render("above", 160, 120)
    assert image.rgb.shape == (120, 160, 3) and image.rgb.dtype == np.uint8
    assert image.depth.shape == image.body.shape == image.geom.shape == (120, 160)
    # The axis of a camera that looks straight down meets the floor at 4 m; planes are drawn 1e-5 of it deeper.
    assert image.depth[60, 80] == pytest.approx(4, rel=3e-5)
    focal = 60 / math.tan(math.radians(20))
    column = round(79.5 + focal * 0.5 / 3)
    assert image.body[60, column] == 1
    assert image.geom[60, column] == 1
    # The top of the ball is at a depth of 2.7 m, its drawn surface within 2 % of its radius; the pixel sees a point beside the top.
    assert image.depth[60, column] == pytest.approx(2.7, abs=0.03)
    red, green, blue = image.rgb[60, column].astype(int)
    assert red > green + 50 and red > blue + 50


def test_a_camera_moves_with_its_body(simulation: st.Simulation) -> None:
    # 0.6 m above the floor, looking down.
    assert simulation.render(1, 32, 32).depth[16, 16] == pytest.approx(0.6, rel=1e-4)
    simulation.qpos[2] = 2
    assert simulation.render("down", 32, 32).depth[16, 16] == pytest.approx(1.6, rel=1e-4)
    simulation.reset()


def test_cameras_may_be_made(simulation: st.Simulation) -> None:
    camera = st.Camera("", "world", np.array([0.5, 0, 3]), np.array([1.0, 0, 0, 0]), math.radians(40))
    assert simulation.render(camera, 64, 64).body[32, 32] == 1
    overview = simulation.render(width=64, height=48)
    assert overview.rgb.shape == (48, 64, 3)
    assert set(np.unique(overview.body)) >= {0, 1}


def test_soft_bodies_are_seen() -> None:
    model = st.load(Path(__file__).parents[2] / "examples/scenes/jelly.toml")
    sim = st.Simulation(model)
    image = sim.render(width=64, height=64)
    assert (image.body >= model.nbody).any()


def test_bad_pictures_are_refused(simulation: st.Simulation) -> None:
    with pytest.raises(st.ModelError, match="above"):
        simulation.render("nowhere")
    with pytest.raises(st.ModelError, match="camera 7"):
        simulation.render(7)
    for width, height, samples in [(0, 5, 1), (5, 0, 1), (5, 5, 0), (5, 5, 99), (10**6, 10**6, 1)]:
        with pytest.raises(st.StateError, match="expected sides"):
            simulation.render("above", width, height, samples=samples)
    camera = simulation.render  # a thing that is no camera
    with pytest.raises(AttributeError):
        simulation.render(camera)  # type: ignore[arg-type]
    for field_of_view in (0, 4, math.nan):
        wrong = st.Camera("", "world", np.zeros(3), np.array([1.0, 0, 0, 0]), field_of_view)
        with pytest.raises(st.StateError, match="field of view"):
            simulation.render(wrong)


def test_environments_render_frames() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    from stiction.gym import StictionEnv

    model = st.loads(SCENE)
    environment = StictionEnv(model, frame_skip=5, render_mode="rgb_array", camera="above", width=40, height=30)
    assert isinstance(environment, gymnasium.Env)
    environment.reset(seed=0)
    frame = environment.render()
    assert frame is not None and frame.shape == (30, 40, 3)
    assert environment.metadata["render_fps"] == round(1 / environment.dt)
    environment.step(np.zeros(0))
    assert StictionEnv(model).render() is None
