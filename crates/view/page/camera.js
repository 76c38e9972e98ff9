// An orbit camera about a target, controlled by mouse, touch and keys.
import { add, subtract, scaled, dot, cross, unit, clamp, norm, multiply, lookAt, perspective } from './maths.js';

const FIELD_OF_VIEW = 0.6;
const START = { yaw: -0.95, pitch: 0.42 };
// Fraction of the picture that stays free around the fitted boxes.
const BORDER = 0.1;
// Number of corrections of the target; each squares the remaining error.
const CENTRINGS = 5;
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

  // Matrix from world to clip space; `jitter` shifts the picture by fractions of a pixel.
  matrix(aspect, jitter = [0, 0]) {
    const reach = this.sceneRadius * 24 + this.distance;
    const near = Math.max(this.distance * 0.02, reach * 1e-4);
    const projection = perspective(FIELD_OF_VIEW, aspect, near, this.distance + reach);
    projection[8] += jitter[0];
    projection[9] += jitter[1];
    return multiply(projection, lookAt(this.eye, this.target, [0, 0, 1]));
  }

  // The ray through a point of the picture, both coordinates from −1 to 1.
  ray(x, y, aspect) {
    const h = Math.tan(FIELD_OF_VIEW / 2);
    return unit(add(add(scaled(this.right, x * h * aspect), scaled(this.up, y * h)), scaled(this.backward, -1)));
  }

  // Fits the corners, by default those of the box, as near as possible and centred.
  // `covered` is the fraction of the picture on its left that a panel covers.
  fit({ centre, radius, low, high, corners }, aspect, covered = 0) {
    this.sceneRadius = radius;
    const { right, up, backward } = this, places = corners ?? new Float32Array(24).map((_, k) => {
      const axis = k % 3;
      return (Math.floor(k / 3) >> axis) & 1 ? high[axis] : low[axis];
    });
    // In camera axes, relative to the centre.
    const seen = new Float32Array(places.length);
    for (let k = 0; k < places.length; k += 3) {
      const place = subtract(places.subarray(k, k + 3), centre);
      [right, up, backward].forEach((axis, i) => { seen[k + i] = dot(place, axis); });
    }
    const vertical = Math.tan(FIELD_OF_VIEW / 2) * (1 - BORDER), horizontal = vertical * aspect * (1 - covered);
    let x = 0, y = 0, distance = 0;
    for (let round = 0; ; round++) {
      distance = radius * 0.5;
      for (let k = 0; k < seen.length; k += 3) {
        distance = Math.max(distance, seen[k + 2] + Math.abs(seen[k] - x) / horizontal, seen[k + 2] + Math.abs(seen[k + 1] - y) / vertical);
      }
      if (round === CENTRINGS) break;
      const ends = [Infinity, -Infinity, Infinity, -Infinity];
      for (let k = 0; k < seen.length; k += 3) {
        const depth = distance - seen[k + 2];
        const [across, along] = [(seen[k] - x) / depth, (seen[k + 1] - y) / depth];
        ends[0] = Math.min(ends[0], across);
        ends[1] = Math.max(ends[1], across);
        ends[2] = Math.min(ends[2], along);
        ends[3] = Math.max(ends[3], along);
      }
      x += 0.5 * (ends[0] + ends[1]) * distance;
      y += 0.5 * (ends[2] + ends[3]) * distance;
    }
    x -= covered * Math.tan(FIELD_OF_VIEW / 2) * aspect * distance;
    this.target = add(centre, add(scaled(right, x), scaled(up, y)));
    this.distance = distance;
  }

  reset(bounds, aspect, covered = 0) {
    Object.assign(this, START);
    this.fit(bounds, aspect, covered);
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

  // Zooms towards the point under the pointer.
  zoom(factor, x = 0, y = 0, aspect = 1) {
    const before = this.distance;
    this.distance = clamp(before * factor, this.sceneRadius * 1e-3, this.sceneRadius * 60);
    const h = Math.tan(FIELD_OF_VIEW / 2) * (before - this.distance);
    this.target = add(this.target, add(scaled(this.right, x * h * aspect), scaled(this.up, y * h)));
  }
}

// Connects pointer and wheel to a camera. `changed` is called after each move, `clicked` after a click
// without drag, with the position in the picture in pixels.
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
