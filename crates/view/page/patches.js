// Contact patches: polygons coloured by pressure.
import { integers, column, numbers } from './codec.js';
import { PRESSURE_COLOURS, toLinear } from './palette.js';

// Numbers per vertex: position and linear colour.
export const PATCH_VERTEX_SIZE = 6;

// Polygons of all frames; those of frame k are first[k] to first[k + 1].
export function readPatches(packed, frames) {
  const starts = (counts) => {
    const first = new Int32Array(counts.length + 1);
    counts.forEach((count, k) => { first[k + 1] = first[k] + count; });
    return first;
  };
  const count = integers(packed, 'patch.count');
  const pressure = Float32Array.from(column(packed, 'patch.pressure'));
  return {
    first: count.length ? starts(count) : new Int32Array(frames + 1),
    omitted: integers(packed, 'patch.omitted'),
    bodies: integers(packed, 'patch.bodies'),
    pressure,
    firstCorner: starts(integers(packed, 'patch.corners')),
    corner: Float32Array.from(numbers(packed, 'patch.corner', integers(packed, 'patch.corner'))),
    largest: pressure.reduce((most, p) => Math.max(most, p), 0),
  };
}

// Linear colour of a part of the largest pressure.
function pressureColour(part) {
  const last = PRESSURE_COLOURS.length - 1;
  const at = Math.min(1, Math.max(0, part)) * last, k = Math.min(Math.floor(at), last - 1);
  return [0, 1, 2].map((i) => {
    const [a, b] = [PRESSURE_COLOURS[k][i], PRESSURE_COLOURS[k + 1][i]];
    return toLinear(a + (at - k) * (b - a));
  });
}

// The colours as a gradient of CSS, from zero to the largest pressure.
export function pressureGradient() {
  const stops = PRESSURE_COLOURS.map((colour) => `rgb(${colour.map((c) => Math.round(255 * c)).join(' ')})`);
  return `linear-gradient(to right, ${stops.join(', ')})`;
}

// Triangles of the polygons of a frame, and of those of one body only if it is given.
export function patchTriangles({ patches }, frame, only) {
  const vertices = [];
  for (let k = patches.first[frame]; k < patches.first[frame + 1]; k++) {
    if (only >= 0 && patches.bodies[2 * k] !== only && patches.bodies[2 * k + 1] !== only) continue;
    const colour = pressureColour(patches.largest > 0 ? patches.pressure[k] / patches.largest : 0);
    const from = patches.firstCorner[k], to = patches.firstCorner[k + 1];
    for (let c = from + 1; c + 1 < to; c++) {
      for (const corner of [from, c, c + 1]) vertices.push(...patches.corner.subarray(3 * corner, 3 * corner + 3), ...colour);
    }
  }
  return new Float32Array(vertices);
}

// Whether a recording has any polygons.
export const hasPatches = ({ patches }) => patches.pressure.length > 0;
