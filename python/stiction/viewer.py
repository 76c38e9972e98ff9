"""A live view of a simulation in the browser, with viser. Needs `pip install 'stiction[viz]'`.

    viewer = stiction.viewer.Viewer(sim)     # prints an address to open
    viewer.run()                             # until Ctrl-C

    while viewer.is_open:                    # or in a user-defined loop
        sim.ctrl[:] = policy(sim.qpos)
        viewer.step()

The page has pause, single step, reset and speed; sliders for the controls; contact points and force
arrows; and shows time, real-time factor and residual. A click on a body selects it: dragging the
handles that appear, or the body itself while holding Ctrl, pulls it with a spring.

Actions of the page are queued and executed in the thread that calls run, step or update; no other
thread accesses the simulation.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction._extras import need
from stiction._native import Simulation, SoftHandle, StepReport
from stiction._origin import is_loopback, own_pages_only
from stiction.grip import STRENGTH, Grip
from stiction.recording import bounds, colour_of, shown
from stiction.types import Array, Visual

FORCE_COLOUR = (235, 110, 40)
POINT_COLOUR = (240, 190, 30)
PULL_COLOUR = (40, 120, 235)
ARROW = 0.3
"""Length of the arrow of a reference force, relative to the size of the scene; the force is the weight of
the geometric mean of the largest and the total mass.
"""
FIELD_OF_VIEW = 0.7
"""Vertical field of view [rad]."""
TEXT_INTERVAL = 0.2
"""Time between updates of the text in the page [s]."""
WALLS = 0.15
"""Opacity of transparent walls."""
FREE_RANGE = 1.0
"""Half range of the slider of a control without a range."""
LONGEST_FRAME = 2.0
"""Longest duration of the steps of one frame, in frames; the remaining steps are dropped."""


class Viewer:
    """Shows a simulation in the browser, with controls."""

    def __init__(
        self,
        sim: Simulation,
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        fps: float = 30.0,
    ) -> None:
        """Starts a server at host and port, or at the next free port; viser prints the address. fps is the
        number of frames per second. host is an address of this machine alone; from another one, use a tunnel,
        such as `ssh -L 8080:localhost:8080`. Requests of foreign web pages are refused.
        """
        if not fps > 0:
            raise ValueError(f"fps = {fps}; expected a number > 0")
        if not is_loopback(host):
            raise ValueError(f"host = {host!r}; expected a loopback address, such as 127.0.0.1 or localhost")
        viser = need("viser", "viser", "viz")
        self.sim = sim
        self.fps = fps
        self.paused = False
        """Whether the simulation is paused."""
        self.speed = 1.0
        """Target real-time factor: simulated time per wall time [-]."""
        self.is_open = True
        """Whether the server runs."""
        self.report: StepReport | None = None
        """Report of the last steps."""
        self.grip: Grip | None = None
        """The spring at the dragged body."""
        self._selected: int | None = None
        self._queue: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._debt = 0.0
        self._rate = _Rate()
        self._text_due = 0.0
        with own_pages_only() as guarded:
            self.server: Any = viser.ViserServer(host=host, port=port, label=sim.model.name, verbose=False)
            """The server, a viser.ViserServer, to which further elements can be added."""
        if not guarded():
            self.server.stop()
            raise RuntimeError("this version of viser starts its server in another way; expected websockets")
        self._scene = _Scene(self)
        self._panel = _Panel(self)
        self.update()

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def run(self, duration: float | None = None) -> None:
        """Steps and shows the simulation at the chosen speed until Ctrl-C, close, or duration [s]."""
        begin = due = time.monotonic()
        try:
            while self.is_open and (duration is None or time.monotonic() - begin < duration):
                self.step()
                due = max(due + 1 / self.fps, time.monotonic() - 1 / self.fps)
                time.sleep(max(0.0, due - time.monotonic()))
        except KeyboardInterrupt:
            pass

    def step(self) -> StepReport | None:
        """Makes the steps of one frame, unless paused, and shows the result. Does not wait. Returns the
        report of the steps, None if there were none.
        """
        self._run_queued()
        report = None if self.paused else self._advance()
        self.update()
        return report

    def single_step(self) -> StepReport:
        """Makes one step, whether paused or not; does not show it."""
        if self.grip is not None:
            self.grip.apply()
        self.report = self.sim.step()
        self._rate.add(self.sim.time)
        return self.report

    def update(self) -> None:
        """Shows the present state."""
        self._run_queued()
        with self.server.atomic():
            self._scene.update()
            if time.monotonic() >= self._text_due:
                self._text_due = time.monotonic() + TEXT_INTERVAL
                self._panel.update()

    def reset(self, keyframe: str | int | None = None) -> None:
        """Resets to a keyframe, or to the initial state of the model."""
        self.release()
        self.sim.reset(keyframe)
        self.report, self._debt, self._rate = None, 0.0, _Rate()

    def select(self, body: str | int | None) -> None:
        """Selects a body, which can then be dragged by handles; None deselects."""
        self.release()
        self._selected = None if body is None else self.sim.model.body_id(body)
        self._scene.select(self._selected)

    def pull(self, body: str | int, target: Array, point: Array | None = None) -> None:
        """Pulls a body towards a target in the world [m] by a spring at `point` [m, world], by default its
        centre of mass. A further call for the same body moves the target; release ends it.
        """
        index = self.sim.model.body_id(body)
        if self.grip is None or self.grip.body != index:
            self.release()
            self.grip = Grip(self.sim, index, point, self._panel.strength)
        self.grip.target = np.asarray(target, np.float64)

    def release(self) -> None:
        """Removes the spring of the pulled body."""
        if self.grip is not None:
            self.grip.release()
            self.grip = None

    def show(
        self,
        *,
        points: bool | None = None,
        forces: bool | None = None,
        clear_walls: bool | None = None,
    ) -> None:
        """Switches contact points, contact force arrows and transparent walls on or off. Options that are
        not given are unchanged.
        """
        for name, on in (("points", points), ("forces", forces), ("clear_walls", clear_walls)):
            if on is not None:
                if name in self._panel.checkboxes:
                    self._panel.checkboxes[name].value = on
                self._scene.switch(name, on)

    def close(self) -> None:
        """Stops the server."""
        if self.is_open:
            self.is_open = False
            self.release()
            self.server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _enqueue(self, action: Callable[[], None]) -> None:
        """Queues an action for the thread that steps."""
        with self._lock:
            self._queue.append(action)

    def _run_queued(self) -> None:
        """Executes the queued actions."""
        with self._lock:
            queued, self._queue = self._queue, []
        for action in queued:
            action()

    def _advance(self) -> StepReport | None:
        """Makes the steps of one frame; if they take too long, the remaining ones are dropped."""
        self._debt += self.speed / self.fps / self.sim.time_step
        end = time.monotonic() + LONGEST_FRAME / self.fps
        made: StepReport | None = None
        while self._debt >= 1 and time.monotonic() < end:
            if self.grip is not None:
                made, count = self.single_step(), 1
            else:
                count = max(1, int(self._debt) // 4)
                made = self.report = self.sim.step(count)
                self._rate.add(self.sim.time)
            self._debt -= count
        self._debt = min(self._debt, 1.0)
        return made

    def _toggle(self) -> None:
        self.paused = not self.paused
        self._rate = _Rate()

    def _pause_and_step(self) -> None:
        self.paused = True
        self.single_step()


class _Rate:
    """Real-time factor over about the last second."""

    def __init__(self) -> None:
        self._samples: list[tuple[float, float]] = []

    def add(self, simulated: float) -> None:
        now = time.monotonic()
        self._samples.append((now, simulated))
        while len(self._samples) > 2 and now - self._samples[0][0] > 1.0:
            self._samples.pop(0)

    @property
    def factor(self) -> float | None:
        if len(self._samples) < 2 or self._samples[-1][0] <= self._samples[0][0]:
            return None
        (a, s), (b, t) = self._samples[0], self._samples[-1]
        return (t - s) / (b - a)


class _Scene:
    """Bodies, ground, contacts, and the handles of the selected body."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer, self.scene = viewer, viewer.server.scene
        sim = viewer.sim
        visuals, poses = sim.visuals(), sim.body_poses()
        displayed = shown(visuals)
        low, high = bounds(displayed, *poses)
        if len(sim.vertices):
            low, high = np.minimum(low, sim.vertices.min(axis=0)), np.maximum(high, sim.vertices.max(axis=0))
        self.size = max(float(np.linalg.norm(high - low)), 0.1)
        masses = np.concatenate([sim.model.masses, [soft.mass for soft in sim.softs]])
        mass = float(np.sqrt(masses.sum() * masses.max()))
        weight = mass * float(np.linalg.norm(sim.model.gravity))
        self.force_scale = ARROW * self.size / weight if weight > 0 else 1.0
        self.shown = {"points": False, "forces": False, "clear_walls": False}
        self.handles: Any = None
        self._scenery(low, high)
        names = sim.model.body_names
        self.frames = [
            self.scene.add_frame(f"/bodies/{k} {name}".replace("//", "/"), show_axes=False)
            for k, name in enumerate(names)
        ]
        self.collision_meshes: list[Any] = []
        """Meshes of collision shapes of bodies that also have visual meshes."""
        self.visual_meshes: list[Any] = []
        self.walls: list[tuple[Any, float]] = []
        """Meshes of the world, with their opacities."""
        kept = {id(visual) for visual in displayed}
        with_visuals = {visual.body for visual in visuals if not visual.collides}
        for k, visual in enumerate(visuals):
            mesh = self._add(visual, k, id(visual) in kept)
            if visual.body == 0 and not visual.is_half_space:
                self.walls.append((mesh, float(visual.colour[3])))
            if visual.body in with_visuals and visual.body != 0:
                (self.collision_meshes if visual.collides else self.visual_meshes).append(mesh)
        if self._is_contained([v for v in visuals if v.body == 0 and not v.is_half_space]):
            self.switch("clear_walls", True)
        self.softs = [_SoftSurface(self.scene, soft) for soft in sim.softs]
        origin = np.zeros((1, 3))
        self.points = self.scene.add_point_cloud(
            "/contacts/points", origin, POINT_COLOUR, point_size=0.008 * self.size,
            point_shape="circle", precision="float32", visible=False,
        )
        self.forces = self._arrows("/contacts/forces", FORCE_COLOUR)
        self.spring = self._arrows("/spring", PULL_COLOUR)

    def _scenery(self, low: Array, high: Array) -> None:
        """Up direction, light and camera."""
        self.scene.set_up_direction("+z")
        self.scene.configure_default_lights(enabled=True, cast_shadow=True)
        middle = (low + high) / 2
        camera = self.viewer.server.initial_camera
        camera.position = tuple(middle + self.size * np.array([0.9, -1.15, 0.65]))
        camera.look_at = tuple(middle)
        camera.fov = FIELD_OF_VIEW

    def _is_contained(self, walls: list[Visual]) -> bool:
        """Whether most moving bodies are inside fixed walls, such as objects in a bin."""
        sim = self.viewer.sim
        positions, quaternions = sim.body_poses()
        moving = positions[1:]
        if len(walls) < 4 or not len(moving):
            return False
        low, high = bounds(walls, positions, quaternions)
        return bool(((low < moving) & (moving < high)).all(axis=1).mean() > 0.6)

    def _add(self, visual: Visual, k: int, visible: bool) -> Any:
        name = f"{self.frames[visual.body].name}/{k}"
        pose = {"wxyz": visual.quaternion, "position": visual.position}
        if visual.is_half_space:
            cell = 10.0 ** np.floor(np.log10(self.size))
            return self.scene.add_grid(
                name, infinite_grid=True, cell_size=cell / 10, section_size=cell,
                fade_distance=20 * self.size, shadow_opacity=0.35, plane_color=(238, 240, 243),
                plane_opacity=1.0, cell_color=(205, 210, 216), section_color=(165, 172, 180), **pose,
            )
        opacity = float(visual.colour[3])
        mesh = self.scene.add_mesh_simple(
            name, visual.vertices, visual.triangles, color=colour_of(visual)[:3],
            opacity=None if opacity >= 1 else opacity, scale=tuple(map(float, visual.scale)),
            side="double", visible=visible, **pose,
        )
        if visual.body != 0:
            self._listen(mesh, visual.body)
        return mesh

    def _listen(self, mesh: Any, body: int) -> None:
        """A click selects, and dragging with Ctrl pulls."""
        viewer = self.viewer

        async def pull(event: Any) -> None:
            if event.phase == "end":
                viewer._enqueue(viewer.release)
                return
            start, end = np.array(event.start_position), np.array(event.end_position)
            viewer._enqueue(lambda: viewer.pull(body, end, start))

        mesh.on_click(lambda _: viewer._enqueue(lambda: viewer.select(body)))
        if hasattr(mesh, "on_drag"):
            mesh.on_drag("left", modifier="cmd/ctrl")(pull)

    def _arrows(self, name: str, colour: tuple[int, int, int]) -> Any:
        size = self.size
        return self.scene.add_arrows(
            name, np.zeros((1, 2, 3)), colour, shaft_radius=0.003 * size,
            head_radius=0.008 * size, head_length=0.02 * size, visible=False,
        )

    def select(self, body: int | None) -> None:
        """Handles at a body."""
        if self.handles is not None:
            self.handles.remove()
            self.handles = None
        if body is None:
            return
        viewer = self.viewer
        self.handles = handles = self.scene.add_transform_controls(
            "/handles", scale=0.25 * self.size, disable_rotations=True, depth_test=False,
            position=tuple(self._centre(body)),
        )

        async def drag(event: Any) -> None:
            target = np.array(event.target.position)
            end = event.phase == "end"
            viewer._enqueue(viewer.release if end else lambda: viewer.pull(body, target))

        handles.on_update(drag)

    def _centre(self, body: int) -> Array:
        pose = self.viewer.sim.body_pose(body)
        return np.asarray(pose.position + pose.rotation @ self.viewer.sim.model.body_com(body))

    def switch(self, name: str, on: bool) -> None:
        """Switches a display option on or off."""
        self.shown[name] = on
        if name == "clear_walls":
            for mesh, opacity in self.walls:
                mesh.opacity = min(opacity, WALLS if on else 1.0)

    def show_visual_meshes(self, visuals: bool) -> None:
        """Shows the visual meshes of bodies, or their collision shapes."""
        for mesh in self.visual_meshes:
            mesh.visible = visuals
        for mesh in self.collision_meshes:
            mesh.visible = not visuals

    def update(self) -> None:
        """Shows the present state."""
        sim, grip = self.viewer.sim, self.viewer.grip
        for frame, position, quaternion in zip(self.frames, *sim.body_poses(), strict=True):
            frame.position, frame.wxyz = position, quaternion
        for surface in self.softs:
            surface.update()
        if self.shown["points"] or self.shown["forces"]:
            contacts = sim.contacts
            point, force = contacts.point, contacts.force * self.force_scale
            acting = np.linalg.norm(force, axis=1) > 1e-3 * self.size if len(point) else []
            point, force = point[acting], force[acting]
            self.points.visible = self.shown["points"] and len(point) > 0
            self.forces.visible = self.shown["forces"] and len(point) > 0
            if len(point):
                self.points.points = point.astype(np.float32)
                self.forces.points = np.stack([point, point + force], axis=1).astype(np.float32)
        else:
            self.points.visible = self.forces.visible = False
        self.spring.visible = grip is not None
        if grip is not None:
            self.spring.points = np.stack([grip.point, grip.target])[None].astype(np.float32)
        elif self.handles is not None and self.viewer._selected is not None:
            self.handles.position = self._centre(self.viewer._selected)


class _SoftSurface:
    """The deforming surface of a soft body."""

    def __init__(self, scene: Any, soft: SoftHandle) -> None:
        self.soft = soft
        # Interior vertices are not sent.
        self.on_surface, corners = np.unique(soft.triangles, return_inverse=True)
        colour, opacity = soft.colour[:3], float(soft.colour[3])
        self.mesh = scene.add_mesh_simple(
            f"/soft/{soft.id} {soft.name}".replace("//", "/"), self.vertices,
            corners.reshape(-1, 3).astype(np.uint32),
            color=tuple(round(255 * float(part)) for part in colour),
            opacity=None if opacity >= 1 else opacity, side="double",
        )

    @property
    def vertices(self) -> NDArray[np.float32]:
        """Present vertices of the surface [m], shape (n, 3)."""
        return self.soft.vertices[self.on_surface].astype(np.float32)

    def update(self) -> None:
        """Shows the present shape."""
        self.mesh.vertices = self.vertices


class _Panel:
    """The control panel of the page."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer, self.gui = viewer, viewer.server.gui
        model = viewer.sim.model
        self.gui.configure_theme(show_logo=False, show_share_button=False)
        self.text = self.gui.add_html("")
        self.pause = self.gui.add_button("Pause")
        self.pause.on_click(lambda _: viewer._enqueue(viewer._toggle))
        step = self.gui.add_button("Step")
        step.on_click(lambda _: viewer._enqueue(viewer._pause_and_step))
        start = "start of the model"
        keyframes = [name or str(k) for k, name in enumerate(model.keyframe_names)]
        self.keyframe: Any = None
        if keyframes:
            self.keyframe = self.gui.add_dropdown("Reset to", (start, *keyframes))
        reset = self.gui.add_button("Reset")

        def reset_to_chosen() -> None:
            chosen = start if self.keyframe is None else self.keyframe.value
            viewer.reset(None if chosen == start else keyframes.index(chosen))

        reset.on_click(lambda _: viewer._enqueue(reset_to_chosen))
        self.speed = self.gui.add_slider("Speed", 0.05, 4.0, 0.05, 1.0)
        self.speed.on_update(lambda e: self._changed(e, self._set_speed))
        self._add_display_options()
        self._add_pull()
        self.controls = _Controls(viewer, self._changed)

    @property
    def strength(self) -> float:
        """Frequency of the spring that pulls [rad/s]."""
        return float(self._strength.value)

    def _changed(self, event: Any, act: Callable[[Any], None]) -> None:
        """Queues an action for a change that was made in the page."""
        if event.client is not None:
            value = event.target.value
            self.viewer._enqueue(lambda: act(value))

    def _set_speed(self, speed: float) -> None:
        self.viewer.speed = speed

    def _add_display_options(self) -> None:
        scene = self.viewer._scene
        with self.gui.add_folder("Show"):
            labels = {"points": "Contact points", "forces": "Contact forces"}
            if scene.walls:
                labels["clear_walls"] = "Clear walls"
            self.checkboxes = {
                name: self.gui.add_checkbox(label, scene.shown[name])
                for name, label in labels.items()
            }
            for name, box in self.checkboxes.items():
                box.on_update(partial(self._changed, act=partial(scene.switch, name)))
            length = self.gui.add_slider("Arrow length", -2.0, 2.0, 0.1, 0.0, hint="power of ten")
            unit = scene.force_scale
            length.on_update(
                lambda e: self._changed(e, lambda x: setattr(scene, "force_scale", unit * 10**x))
            )
            if scene.collision_meshes:
                meshes = self.gui.add_checkbox("Visual meshes", True)
                meshes.on_update(lambda e: self._changed(e, scene.show_visual_meshes))

    def _add_pull(self) -> None:
        viewer = self.viewer
        names = viewer.sim.model.body_names
        bodies = {name or f"body {k}": k for k, name in enumerate(names) if k > 0}
        nothing = "nothing"
        with self.gui.add_folder("Pull"):
            self.selected = self.gui.add_dropdown("Body", (nothing, *bodies))
            self._strength = self.gui.add_slider(
                "Strength", 1.0, 80.0, 0.5, STRENGTH, hint="frequency of the spring [rad/s]"
            )
        self.selected.on_update(
            lambda e: self._changed(e, lambda name: viewer.select(bodies.get(name)))
        )
        self._bodies, self._nothing = {k: name for name, k in bodies.items()}, nothing

    def update(self) -> None:
        """Updates text and controls."""
        viewer, sim = self.viewer, self.viewer.sim
        self.pause.label = "Play" if viewer.paused else "Pause"
        selected = viewer._selected
        self.selected.value = self._nothing if selected is None else self._bodies[selected]
        rate = None if viewer.paused else viewer._rate.factor
        rows = [("Time", f"{sim.time:.3f} s"), ("Real-time factor", f"{rate:.2f}" if rate else "–")]
        if (report := viewer.report) is not None:
            rows += [
                ("Residual", f"{report.residual.coulomb:.1e} m/s"),
                ("Status", report.status.replace("_", " ")),
                ("Solver", report.solver_status.replace("_", " ")),
                ("Iterations", str(report.iterations)),
                ("Contacts", str(report.contacts)),
                ("Penetration", f"{1e3 * report.penetration:.3f} mm"),
            ]
        cells = "".join(
            f"<tr><td>{name}</td><td style='text-align: right'>{value}</td></tr>"
            for name, value in rows
        )
        self.text.content = (
            f"<table style='width: 100%; padding: 0 1em; font-size: 0.85em; "
            f"font-variant-numeric: tabular-nums'>{cells}</table>"
        )
        self.controls.update()


class _Controls:
    """A slider per control."""

    def __init__(self, viewer: Viewer, changed: Callable[[Any, Callable[[Any], None]], None]) -> None:
        self.viewer = viewer
        model, gui = viewer.sim.model, viewer.server.gui
        self.sliders: list[Any] = []
        self.driver: Any = None
        if not model.nu:
            return
        with gui.add_folder("Controls", expand_by_default=model.nu <= 12):
            if model.has_controller:
                self.driver = gui.add_checkbox("By the model's controller", viewer.sim.controlled)
                self.driver.on_update(lambda e: changed(e, self._set_controlled))
            for name in model.actuator_names if model.nu == len(model.actuator_names) else [""] * model.nu:
                self.sliders.append(self._slider(gui, len(self.sliders), name, changed))
        self.last = viewer.sim.ctrl.copy()

    def _slider(self, gui: Any, k: int, name: str, changed: Any) -> Any:
        sim = self.viewer.sim
        value = float(sim.ctrl[k])
        low, high = (float(end) for end in sim.model.ctrl_range[k])
        low = low if np.isfinite(low) else min(-FREE_RANGE, 2 * value)
        high = high if np.isfinite(high) else max(FREE_RANGE, 2 * value)
        label, step = name or f"control {k}", (high - low) / 500 or 1.0
        slider = gui.add_slider(label, low, high, step, min(max(value, low), high))

        def write(value: float) -> None:
            sim.ctrl[k] = self.last[k] = value

        slider.on_update(lambda e: changed(e, write))
        return slider

    def _set_controlled(self, on: bool) -> None:
        self.viewer.sim.controlled = on

    def update(self) -> None:
        """Shows controls that were not set by a slider."""
        sim = self.viewer.sim
        if self.driver is not None:
            self.driver.value = sim.controlled
        for k, slider in enumerate(self.sliders):
            value = float(sim.ctrl[k])
            slider.disabled = self.driver is not None and sim.controlled
            if value != self.last[k]:
                self.last[k] = value
                slider.value = min(max(value, slider.min), slider.max)


__all__ = ["Viewer"]
