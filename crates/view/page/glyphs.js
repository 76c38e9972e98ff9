// Arrows and points: their meshes and positions.
import { add, subtract, scaled, dot, norm, turn } from './maths.js';
import { FORCE_COLOURS, AXIS_COLOURS, toLinear } from './palette.js';

const AROUND = 14;

// An arrow along z: shaft (w = 0) and head (w = 1), each with z from 0 to 1.
export function arrowMesh() {
  const positions = [], normals = [], triangles = [];
  const ring = (radius, z, part, rise) => {
    const first = positions.length / 4;
    for (let k = 0; k < AROUND; k++) {
      const a = (2 * Math.PI * k) / AROUND, c = Math.cos(a), s = Math.sin(a);
      positions.push(radius * c, radius * s, z, part);
      normals.push(c * Math.sqrt(1 - rise * rise), s * Math.sqrt(1 - rise * rise), rise);
    }
    return first;
  };
  const band = (a, b) => {
    for (let k = 0; k < AROUND; k++) {
      const n = (k + 1) % AROUND;
      triangles.push(a + k, a + n, b + n, a + k, b + n, b + k);
    }
  };
  band(ring(0.6, 0, 0, 0), ring(0.6, 1, 0, 0));
  band(ring(0.6, 0, 1, -1), ring(1.7, 0, 1, -1));
  band(ring(1.7, 0, 1, 0.35), ring(0, 1, 1, 0.35));
  return { positions: new Float32Array(positions), normals: new Float32Array(normals), triangles: new Uint16Array(triangles) };
}

// A ball of unit radius (w = −1).
export function pointMesh() {
  const positions = [], normals = [], triangles = [], rings = 8;
  for (let i = 0; i <= rings; i++) {
    const p = (Math.PI * i) / rings;
    for (let k = 0; k <= AROUND; k++) {
      const a = (2 * Math.PI * k) / AROUND;
      const n = [Math.sin(p) * Math.cos(a), Math.sin(p) * Math.sin(a), Math.cos(p)];
      positions.push(...n, -1);
      normals.push(...n);
    }
  }
  for (let i = 0; i < rings; i++) {
    for (let k = 0; k < AROUND; k++) {
      const a = i * (AROUND + 1) + k, b = a + AROUND + 1;
      triangles.push(a, b, b + 1, a, b + 1, a + 1);
    }
  }
  return { positions: new Float32Array(positions), normals: new Float32Array(normals), triangles: new Uint16Array(triangles) };
}

export const GLYPH_SIZE = 10;
const linear = (colour) => colour.map(toLinear);

// Splits a force into its normal component and friction.
export function forceParts(contacts, k) {
  const force = [...contacts.force.subarray(3 * k, 3 * k + 3)];
  const direction = [...contacts.normal.subarray(3 * k, 3 * k + 3)];
  const normal = scaled(direction, dot(force, direction));
  return { force, normal, friction: subtract(force, normal) };
}

// A high quantile of the contact forces [N]: the force of an arrow of usual length.
export function usualForce(contacts) {
  const sizes = [];
  const n = contacts.gap.length, stride = Math.max(1, Math.floor(n / 20000));
  for (let k = 0; k < n; k += stride) {
    const size = norm(contacts.force.subarray(3 * k, 3 * k + 3));
    if (size > 0) sizes.push(size);
  }
  sizes.sort((a, b) => a - b);
  return sizes.length ? sizes[Math.floor(0.9 * (sizes.length - 1))] : 1;
}

// Arrows and points of one frame as flat arrays of origin, direction, radius and colour; and the number
// of arrows that were shortened.
export function glyphsOf(recording, frame, poses, wants) {
  const arrows = [], points = [];
  let cut = 0;
  const { contacts } = recording;
  const [first, last] = recording.contactsOf(frame);
  const colours = { normal: linear(FORCE_COLOURS.normal), friction: linear(FORCE_COLOURS.friction), point: linear(wants.ink) };
  for (let k = first; k < last; k++) {
    if (wants.only >= 0 && contacts.bodies[2 * k] !== wants.only && contacts.bodies[2 * k + 1] !== wants.only) continue;
    const at = contacts.point.subarray(3 * k, 3 * k + 3);
    const parts = forceParts(contacts, k);
    if (wants.points) {
      const loaded = norm(parts.force) > 0 ? 1 : 0.55;
      points.push(...at, 0, 0, 0, wants.radius * 1.15 * loaded, ...colours.point);
    }
    if (wants.forces) {
      for (const part of ['normal', 'friction']) {
        let along = scaled(parts[part], wants.metresPerNewton);
        const length = norm(along);
        if (length > wants.longest) {
          along = scaled(along, wants.longest / length);
          cut += 1;
        }
        if (length > wants.radius * 0.25) arrows.push(...at, ...along, wants.radius, ...colours[part]);
      }
    }
  }
  if (wants.frames) {
    for (const body of recording.moving) {
      const origin = [...poses.subarray(7 * body, 7 * body + 3)], q = poses.subarray(7 * body + 3, 7 * body + 7);
      for (let axis = 0; axis < 3; axis++) {
        const along = turn(q, [0, 1, 2].map((k) => (k === axis ? wants.axisLength : 0)));
        arrows.push(...origin, ...along, wants.radius * 0.7, ...linear(AXIS_COLOURS[axis]));
      }
    }
  }
  return { arrows: new Float32Array(arrows), points: new Float32Array(points), cut };
}

// Total force on a body from the contacts of a frame [N], and the contacts themselves.
export function loadOn(recording, frame, body) {
  const { contacts } = recording;
  const [first, last] = recording.contactsOf(frame);
  let total = [0, 0, 0];
  const list = [];
  for (let k = first; k < last; k++) {
    const [a, b] = [contacts.bodies[2 * k], contacts.bodies[2 * k + 1]];
    if (a !== body && b !== body) continue;
    const { force, normal, friction } = forceParts(contacts, k);
    total = add(total, scaled(force, b === body ? 1 : -1));
    list.push({ other: a === body ? b : a, normal: norm(normal), friction: norm(friction), gap: contacts.gap[k] });
  }
  list.sort((x, y) => y.normal - x.normal);
  return { total, list };
}
