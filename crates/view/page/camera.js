// A camera on a sphere about a target, moved by mouse, touch and keys.
import { add, subtract, scaled, dot, cross, unit, clamp, norm, multiply, lookAt, perspective } from './maths.js';

const FIELD_OF_VIEW = 0.6;
const START = { yaw: -0.95, pitch: 0.42 };
// Part of the picture that stays free around what is fitted.
const BORDER = 0.1;
const STEEPEST = Math.PI / 2 - 0.01;

export class Camera {
  constructor() {
    this.target = [0, 0, 0];
    this.distance = 3;
    this.sceneRadius = 1;
    Object.assign(this, START);
  }

  get eye() {
    return add(this.target, scaled(this.backward, this.distance));
  }

  get backward() {
    const c = Math.cos(this.pitch);
    return [c * Math.cos(this.yaw), c * Math.sin(this.yaw), Math.sin(this.pitch)];
  }

  get right() { return unit(cross([0, 0, 1], this.backward)); }

  get up() { return cross(this.backward, this.right); }

  // From the world to the clip cube; `jitter` moves the picture by parts of a pixel.
  matrix(aspect, jitter = [0, 0]) {
    const reach = this.sceneRadius * 24 + this.distance;
    const near = Math.max(this.distance * 0.02, reach * 1e-4);
    const projection = perspective(FIELD_OF_VIEW, aspect, near, this.distance + reach);
    projection[8] += jitter[0];
    projection[9] += jitter[1];
    return multiply(projection, lookAt(this.eye, this.target, [0, 0, 1]));
  }

  // The ray through a place in the picture, both coordinates from −1 to 1.
  ray(x, y, aspect) {
    const h = Math.tan(FIELD_OF_VIEW / 2);
    return unit(add(add(scaled(this.right, x * h * aspect), scaled(this.up, y * h)), scaled(this.backward, -1)));
  }

  // Comes as near as the corners of a box allow.
  fit({ centre, radius, low, high }, aspect) {
    this.sceneRadius = radius;
    this.target = [...centre];
    const vertical = Math.tan(FIELD_OF_VIEW / 2) * (1 - BORDER), horizontal = vertical * aspect;
    const { right, up, backward } = this;
    let distance = 0;
    for (let c = 0; c < 8; c++) {
      const corner = subtract([0, 1, 2].map((i) => ((c >> i) & 1 ? high[i] : low[i])), centre);
      const depth = dot(corner, backward);
      distance = Math.max(distance, depth + Math.abs(dot(corner, right)) / horizontal, depth + Math.abs(dot(corner, up)) / vertical);
    }
    this.distance = Math.max(distance, radius * 0.5);
  }

  reset(bounds, aspect) {
    Object.assign(this, START);
    this.fit(bounds, aspect);
  }

  orbit(dx, dy) {
    this.yaw -= dx * 0.006;
    this.pitch = clamp(this.pitch + dy * 0.006, -STEEPEST, STEEPEST);
  }

  // Moves the target with the pointer, in pixels of a picture of some height.
  pan(dx, dy, height) {
    const metres = (2 * this.distance * Math.tan(FIELD_OF_VIEW / 2)) / height;
    this.target = add(this.target, add(scaled(this.right, -dx * metres), scaled(this.up, dy * metres)));
  }

  // Comes nearer, towards the place under the pointer.
  zoom(factor, x = 0, y = 0, aspect = 1) {
    const before = this.distance;
    this.distance = clamp(before * factor, this.sceneRadius * 1e-3, this.sceneRadius * 60);
    const h = Math.tan(FIELD_OF_VIEW / 2) * (before - this.distance);
    this.target = add(this.target, add(scaled(this.right, x * h * aspect), scaled(this.up, y * h)));
  }
}

// Lets pointer and wheel move a camera. `changed` is called after each move, `clicked` after a press
// that moved nothing, with the place in the picture in pixels.
export function attachPointer(canvas, camera, changed, clicked) {
  const pointers = new Map();
  let travelled = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return { middle: scaled(add([...a, 0], [...b, 0]), 0.5), width: norm(subtract([...a, 0], [...b, 0])) };
  };
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    travelled = 0;
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!pointers.has(event.pointerId)) return;
    const before = pointers.get(event.pointerId), now = place(event);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    travelled += Math.abs(dx) + Math.abs(dy);
    if (pointers.size === 2) {
      const old = spread();
      pointers.set(event.pointerId, now);
      const next = spread();
      camera.pan(next.middle[0] - old.middle[0], next.middle[1] - old.middle[1], canvas.clientHeight);
      camera.zoom(old.width / Math.max(next.width, 1));
    } else {
      pointers.set(event.pointerId, now);
      if (event.buttons & 6 || event.shiftKey) camera.pan(dx, dy, canvas.clientHeight);
      else camera.orbit(dx, dy);
    }
    changed();
  });
  const release = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    if (event.type === 'pointerup' && travelled < 5 && pointers.size === 0) clicked(...place(event));
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const [px, py] = place(event), w = canvas.clientWidth, h = canvas.clientHeight;
    const step = clamp(event.deltaY * (event.deltaMode === 1 ? 16 : 1), -240, 240);
    camera.zoom(Math.exp(step * 0.0015), (2 * px) / w - 1, 1 - (2 * py) / h, w / h);
    changed();
  }, { passive: false });
}
