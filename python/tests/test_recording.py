"""Recordings: frames match the simulation, files are complete, and recording does not change the motion."""

import gc
import html
import math
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stiction as st
from models import BOX, BOX_MASS, GRAVITY, PENDULUM

MESH = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"

WITH_VISUAL_MESH = """
<mujoco model="dressed">
  <asset><mesh name="skin" file="skin.obj" scale="2 2 2"/></asset>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="tooth" pos="0 0 1">
      <freejoint/>
      <geom type="sphere" size="0.1" mass="1"/>
      <geom type="mesh" mesh="skin" contype="0" conaffinity="0" mass="0" rgba="1 0.5 0 1"/>
    </body>
  </worldbody>
</mujoco>
"""


def box() -> st.Simulation:
    return st.Simulation(st.loads(BOX))


def test_frames_are_equally_spaced_from_the_initial_state_on() -> None:
    sim = box()
    recording = sim.record(fps=50)
    sim.step(100)
    arrays = recording.to_arrays()
    assert recording.frames == len(recording) == 11
    assert np.allclose(arrays["time"], np.arange(11) / 50, atol=1e-12)
    assert arrays["steps"].tolist() == [0] + [10] * 10


def test_poses_and_forces_are_those_of_the_simulation() -> None:
    sim = box()
    recording = sim.record(fps=math.inf)
    positions = []
    for _ in range(20):
        sim.step()
        positions.append(sim.body_pose("box").position)
    arrays = recording.to_arrays()
    assert arrays["position"].shape == (21, 1, 3) and arrays["rotation"].shape == (21, 1, 4)
    assert np.array_equal(arrays["position"][1:, 0], positions)
    last = slice(*arrays["contact_start"][-2:])
    assert np.array_equal(arrays["contact_force"][last], sim.contacts.force)
    assert np.array_equal(arrays["contact_point"][last], sim.contacts.point)
    # A box at rest: the floor supports its weight, to the tolerance of the solver.
    assert arrays["contact_force"][last][:, 2].sum() == pytest.approx(BOX_MASS * GRAVITY, rel=1e-3)
    energy = arrays["energy_kinetic"][-1] + arrays["energy_potential"][-1]
    assert energy == sim.energy().total
    assert arrays["body_names"].tolist() == ["world", "box"] == recording.body_names
    assert arrays["moving"].tolist() == [1]


def test_every_column_has_an_entry_per_frame_or_contact() -> None:
    sim = st.Simulation(st.scenario("stack"))
    recording = sim.record()
    sim.step(30)
    arrays = recording.to_arrays()
    frames, contacts = recording.frames, len(arrays["contact_gap"])
    apart = {"rest_position", "rest_rotation", "moving", "body_names", "phase_names"}
    for name, column in arrays.items():
        if name == "contact_start":
            assert len(column) == frames + 1 and column[-1] == contacts
        elif name.startswith("contact_"):
            assert len(column) == contacts, name
        elif name not in apart:
            assert len(column) == frames, name
    assert arrays["phase_time"].shape == (frames, len(arrays["phase_names"]))


def test_recording_does_not_change_the_motion() -> None:
    alone, watched = box(), box()
    alone.step(100)
    with watched.record():
        watched.step(100)
    assert alone.state_hash() == watched.state_hash()


def test_a_block_writes_its_page_even_if_it_fails(tmp_path: Path) -> None:
    sim, page = box(), tmp_path / "run.html"
    with pytest.raises(ZeroDivisionError), sim.record(page, title="a <fall>") as recording:
        sim.step(10)
        assert recording.active and not page.exists()
        raise ZeroDivisionError
    assert not recording.active
    text = page.read_text()
    assert "<title>" in text and "a &lt;fall&gt;" in text and text == recording.html()
    # The recording has ended.
    frames = recording.frames
    sim.step(100)
    assert recording.frames == frames
    page.unlink()
    recording.stop()
    assert not page.exists()


def test_every_kind_of_file_is_written(tmp_path: Path) -> None:
    sim = box()
    recording = sim.record()
    sim.step(20)
    for ending in ("gif", "glb", "html", "npz", "parquet"):
        recording.save(tmp_path / f"run.{ending}")
        assert (tmp_path / f"run.{ending}").stat().st_size > 500, ending


def test_arrays_are_those_of_the_archive(tmp_path: Path) -> None:
    sim = st.Simulation(st.scenario("stack"))
    with sim.record(tmp_path / "run.npz") as recording:
        sim.step(30)
    arrays = recording.to_arrays()
    with np.load(tmp_path / "run.npz") as archive:
        assert set(arrays) <= set(archive)
        for name, column in arrays.items():
            assert column.shape == archive[name].shape, name
            assert np.array_equal(column, archive[name]), name


def test_a_recording_comes_back_from_its_file_to_the_bit(tmp_path: Path) -> None:
    sim = st.Simulation(st.scenario("stack"))
    with sim.record([tmp_path / "run.stiction", tmp_path / "run.html"], title="tower") as recording:
        sim.step(30)
    found = st.load_recording(tmp_path / "run.stiction")
    assert (found.title, found.solver, found.frames) == ("tower", recording.solver, recording.frames)
    assert not found.active and found.notes == []
    arrays = found.to_arrays()
    for name, column in recording.to_arrays().items():
        assert np.array_equal(column, arrays[name]), name
    assert found.html() == recording.html() == (tmp_path / "run.html").read_text()
    assert len(found.visuals()) == len(recording.visuals()) and "<iframe" in found._repr_html_()
    found.save(tmp_path / "again.stiction")
    assert (tmp_path / "again.stiction").read_bytes() == (tmp_path / "run.stiction").read_bytes()
    found.stop()


def test_a_truncated_or_corrupt_file_opens_as_far_as_it_is_valid_or_gives_the_reason(tmp_path: Path) -> None:
    sim, path = box(), tmp_path / "run.stiction"
    with sim.record(path):
        sim.step(50)
    sound = path.read_bytes()
    path.write_bytes(sound[:-1])
    cut = st.load_recording(path)
    assert len(cut.notes) == 1 and "left out" in cut.notes[0]
    flipped = bytearray(sound)
    flipped[len(sound) // 2] ^= 1
    newer = bytearray(sound)
    newer[8] = 99
    for content, expected in [
        (bytes(flipped), "damaged"),
        (bytes(newer), "version 99"),
        (sound[:30], "cut off"),
        (b"<html>", "not a recording"),
    ]:
        path.write_bytes(content)
        with pytest.raises(st.RecordingError, match=rf"run\.stiction.*{expected}"):
            st.load_recording(path)
        assert path.read_bytes() == content
    with pytest.raises(st.RecordingNotFoundError, match="no such file") as missing:
        st.load_recording(tmp_path / "none.stiction")
    assert isinstance(missing.value, FileNotFoundError)


def test_pictures_follow_their_options(tmp_path: Path) -> None:
    sim = st.Simulation(st.scenario("stack"))
    recording = sim.record()
    sim.step(30)
    size = (120, 90)
    plain = recording.picture(size=size)
    assert plain.shape == (90, 120, 3) and plain.dtype == np.uint8
    assert np.array_equal(plain, recording.picture(size=size))
    for asked in (
        {"view": "top"},
        {"azimuth": 20.0, "elevation": 5.0},
        {"look_at": (0.0, 0.0, 0.0), "distance": 1.0},
        {"zoom": 2.0},
        {"forces": True},
    ):
        assert not np.array_equal(plain, recording.picture(size=size, **asked)), asked  # type: ignore[arg-type]
    recording.save(tmp_path / "a.png", size=size, view="front")
    assert (tmp_path / "a.png").read_bytes()[16:24] == (120).to_bytes(4, "big") + (90).to_bytes(4, "big")
    for refused, expected in (
        ({"size": (0, 9)}, "WIDTHxHEIGHT"),
        ({"view": "inside"}, "front"),
        ({"elevation": 100.0}, "-90 to 90"),
        ({"zoom": -1.0}, "above zero"),
    ):
        with pytest.raises(st.RecordingError, match=expected):
            recording.picture(**refused)  # type: ignore[arg-type]
    with pytest.raises(st.RecordingError, match=r"\.png, \.gif or \.mp4"):
        recording.save(tmp_path / "a.html", view="top")


def test_a_scene_lists_its_output_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = """
        [[body]]
        name = "ball"
        shape = "sphere"
        radius = 0.1
        [record]
        files = ["ball.html", "ball.png"]
        fps = 20
        picture = "size=60x40"
        """
    model = st.loads(scene, format="native")
    wishes = model.record_wishes
    assert wishes == st.RecordWishes(["ball.html", "ball.png"], 20.0, "size=60x40")
    monkeypatch.chdir(tmp_path)
    sim = st.Simulation(model, time_step=0.01)
    with sim.record(wishes.files) as recording:
        sim.step(100)
    assert recording.frames == 21
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ball.html", "ball.png"]
    assert (tmp_path / "ball.png").read_bytes()[16:24] == (60).to_bytes(4, "big") + (40).to_bytes(4, "big")
    # No file is written without a call.
    sim.record().stop()
    assert len(list(tmp_path.iterdir())) == 2
    assert st.scenario("stack").record_wishes is None


def test_a_deleted_recording_ends() -> None:
    sim = box()
    recording = sim.record()
    other = sim.record(fps=10)
    del recording
    gc.collect()
    sim.step(50)
    assert other.frames == 2


def test_a_notebook_shows_the_page_in_a_frame() -> None:
    sim = box()
    recording = sim.record()
    shown = re.fullmatch(r'<iframe srcdoc="([^"]*)".*></iframe>', recording._repr_html_(), re.S)
    assert shown is not None
    assert html.unescape(shown[1]) == recording.html()


def test_the_page_and_its_frame_in_a_notebook_show_the_run(driver: Any, tmp_path: Path) -> None:
    sim, page = st.Simulation(st.scenario("stack")), tmp_path / "run.html"
    with sim.record(page) as recording:
        sim.step(30)
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><body>{recording._repr_html_()}</body>")
    for shown in (page, notebook):
        driver.get(shown.as_uri())
        if shown is notebook:
            driver.switch_to.frame(0)
        deadline = time.monotonic() + 60
        ask = "return document.body && document.body.dataset.state"
        while (state := driver.execute_script(ask)) is None:
            assert time.monotonic() < deadline, f"{shown} is not ready"
            time.sleep(0.05)
        assert state == "ready"
        drawn = """const { renderer, camera } = window.stiction, { gl } = renderer;
            renderer.draw(camera);
            const p = new Uint8Array(4 * gl.drawingBufferWidth * gl.drawingBufferHeight);
            gl.readPixels(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight, gl.RGBA, gl.UNSIGNED_BYTE, p);
            const seen = new Set(); for (let k = 0; k < p.length; k += 4) seen.add(p[k] << 16 | p[k + 1] << 8 | p[k + 2]);
            return [seen.size, window.stiction.recording.count];"""
        colours, frames = driver.execute_script(drawn)
        assert colours > 100 and frames == recording.frames


def test_a_file_that_cannot_be_written_is_rejected_before_the_run(tmp_path: Path) -> None:
    sim = box()
    with pytest.raises(st.RecordingError, match=r"run\.docx.*\.html.*\.rrd"):
        sim.record(tmp_path / "run.docx")
    with pytest.raises(st.RecordingNotWrittenError, match="cannot be written") as refused:
        sim.record(tmp_path / "no" / "folder" / "run.html")
    assert isinstance(refused.value, OSError)
    with pytest.raises(st.RecordingNotWrittenError, match="there is no folder"):
        sim.record(["run.html", tmp_path / "no" / "run.html"])
    for rate in (0.0, -1.0, math.nan):
        with pytest.raises(st.SettingError, match="frames per second"):
            sim.record(fps=rate)
    assert list(tmp_path.iterdir()) == []


def test_a_visual_mesh_is_displayed_instead_of_the_collision_shape() -> None:
    from stiction.recording import shown

    sim = st.Simulation(st.loads(WITH_VISUAL_MESH, assets={"skin.obj": MESH}))
    plane, ball, skin = sim.visuals()
    assert plane.is_half_space and plane.body == 0
    assert ball.collides and np.allclose(ball.scale, 0.1)
    assert not skin.collides and skin.body == sim.model.body_id("tooth")
    assert np.allclose(skin.colour, [1, 0.5, 0, 1])
    assert sorted(map(tuple, skin.vertices * skin.scale))[-1] == (2, 0, 0)
    assert [visual.body for visual in shown([plane, ball, skin])] == [0, 1]
    assert sim.record().notes == []
    assert [len(v.triangles) for v in sim.record().visuals()] == [0, len(ball.triangles), 4]


def test_a_visual_mesh_that_cannot_be_read_is_reported() -> None:
    sim = st.Simulation(st.loads(WITH_VISUAL_MESH, assets={"skin.obj": b"nonsense"}))
    recording = sim.record()
    assert len(recording.visuals()) == 2
    assert len(recording.notes) == 1 and "skin.obj" in recording.notes[0]


def test_visuals_alike_share_their_arrays() -> None:
    visuals = st.Simulation(st.scenario("stack")).visuals()
    boxes = [v for v in visuals if not v.is_half_space]
    assert len(boxes) > 1 and all(v.vertices is boxes[0].vertices for v in boxes)


def test_poses_of_all_bodies_are_those_of_each() -> None:
    sim = st.Simulation(st.loads(PENDULUM), keyframe="raised")
    positions, quaternions = sim.body_poses()
    for body in range(sim.model.nbody):
        pose = sim.body_pose(body)
        assert np.array_equal(positions[body], pose.position)
        assert np.array_equal(quaternions[body], pose.quaternion)


def test_rerun_gets_a_file_with_the_whole_run(tmp_path: Path) -> None:
    try:
        import rerun as rr

        from stiction import rerun_sink
    except ImportError:
        print("skipped: rerun is not installed")
        pytest.skip("rerun is not installed")
    sim, path = st.Simulation(st.scenario("stack")), tmp_path / "run.rrd"
    with sim.record(path) as recording:
        sim.step(60)
    first = path.stat().st_size
    assert [file.name for file in tmp_path.iterdir()] == ["run.rrd"]
    # Each frame adds to it, beyond the meshes.
    sim.step(200)
    longer = sim.record()
    sim.step(300)
    longer.save(path)
    assert path.stat().st_size > first > 10_000
    # Both kinds of source, to a stream in memory.
    stream = rr.RecordingStream("test")
    memory = stream.memory_recording()
    rerun_sink.log(recording, stream, root="whole")
    rerun_sink.log(sim, stream, root="moment", meshes=False)
    assert memory.num_msgs() > 0


def test_rerun_rejects_a_path_that_cannot_be_written(tmp_path: Path) -> None:
    pytest.importorskip("rerun")
    with pytest.raises(st.RecordingNotWrittenError, match="cannot be written"):
        box().record(tmp_path / "no" / "run.rrd")


def test_a_missing_package_is_named_with_the_extra_that_brings_it() -> None:
    from stiction._extras import need

    with pytest.raises(st.MissingPackageError, match=r"no_such.*pip install 'stiction\[viz\]'"):
        need("no_such_module", "no_such", "viz")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of the size of files")
def test_a_limit_of_the_size_of_files_is_an_error_of_writing(tmp_path: Path) -> None:
    program = f"""
import resource
import stiction as st
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
sim = st.Simulation(st.scenario("clutter", bodies=4))
recording = sim.record(fps=1000)
sim.step(200)
try:
    recording.save({str(tmp_path / "run.stiction")!r})
except st.RecordingNotWrittenError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "cannot be written" in done.stdout
    assert list(tmp_path.iterdir()) == []
