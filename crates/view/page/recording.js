// A decoded recording: typed columns, and interpolation between two frames.
import { slerp, scaled, norm } from './maths.js';
import { readPatches } from './patches.js';
import { unpack, integers, numbers, column, directions } from './codec.js';

export async function readRecording(element) {
  return new Recording(await unpack(element));
}

class Recording {
  constructor(packed) {
    const { header } = packed;
    this.title = header.title || 'recording';
    this.solver = header.solver;
    this.timeStep = header.time_step;
    this.tolerance = header.tolerance;
    this.bodies = header.bodies;
    this.phases = header.phases;
    this.shapes = header.shapes;
    this.softs = header.softs;
    this.moving = header.moving;
    this.count = header.frames;
    this.time = column(packed, 'time');
    this.slot = new Int32Array(this.bodies.length).fill(-1);
    this.moving.forEach((body, k) => { this.slot[body] = k; });
    this.rest = Float32Array.from(header.rest.flat());
    this.position = Float32Array.from(column(packed, 'position'));
    this.rotation = Float32Array.from(column(packed, 'rotation'));
    this.soft = Float32Array.from(column(packed, 'soft'));
    this.softVertices = this.softs.reduce((sum, soft) => sum + soft.vertices, 0);
    // Triangles index corners; at a crease several corners share one vertex.
    this.softs.forEach((soft, k) => {
      soft.triangles = Uint32Array.from(integers(packed, `soft.${k}.triangles`));
      soft.corners = Uint32Array.from(integers(packed, `soft.${k}.corners`));
    });
    this.meshes = [];
    for (let k = 0; k < header.meshes; k++) {
      this.meshes.push({
        positions: Float32Array.from(column(packed, `mesh.${k}.positions`)),
        normals: directions(column(packed, `mesh.${k}.normals`)),
        triangles: Uint32Array.from(integers(packed, `mesh.${k}.triangles`)),
      });
    }
    this.contacts = readContacts(packed, this.count, header.exponents);
    this.patches = readPatches(packed, this.count);
    this.figures = {};
    for (const name of ['momentum', 'coulomb', 'convex', 'penetration', 'equality_error', 'kinetic',
      'potential', 'steps', 'iterations', 'contacts', 'asleep', 'status', 'flags', 'softened', 'phases']) {
      this.figures[name] = column(packed, name);
    }
  }

  get begin() { return this.count ? this.time[0] : 0; }

  get end() { return this.count ? this.time[this.count - 1] : 0; }

  // The last frame that is not after `time`.
  frameAt(time) {
    let low = 0, high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.time[middle] <= time + 1e-9 * this.timeStep) low = middle; else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  // The frame nearest to a time.
  nearest(time) {
    const k = this.frameAt(time);
    return k + 1 < this.count && this.time[k + 1] - time < time - this.time[k] ? k + 1 : k;
  }

  // Fraction of the way of a time from a frame to the next, 0 to 1.
  fraction(frame, time) {
    if (frame + 1 >= this.count) return 0;
    return Math.min(1, Math.max(0, (time - this.time[frame]) / (this.time[frame + 1] - this.time[frame])));
  }

  // Poses of all bodies at a time, seven numbers each.
  poses(time, out) {
    out.set(this.rest);
    if (!this.count) return;
    const m = this.moving.length, k = this.frameAt(time), t = this.fraction(k, time);
    const next = Math.min(k + 1, this.count - 1);
    for (let s = 0; s < m; s++) {
      const a = k * m + s, b = next * m + s, at = 7 * this.moving[s];
      for (let i = 0; i < 3; i++) out[at + i] = (1 - t) * this.position[3 * a + i] + t * this.position[3 * b + i];
      slerp(this.rotation, 4 * a, this.rotation, 4 * b, t, out, at + 3);
    }
  }

  // Vertices of all soft surfaces at a time.
  softAt(time, out) {
    const n = 3 * this.softVertices, k = this.frameAt(time), t = this.fraction(k, time);
    const a = k * n, b = Math.min(k + 1, this.count - 1) * n;
    for (let i = 0; i < n; i++) out[i] = (1 - t) * this.soft[a + i] + t * this.soft[b + i];
  }

  // Velocity [m/s] of a body's origin and its angular velocity [rad/s] in the world, by the
  // difference of the frames around a frame.
  velocity(body, frame) {
    const s = this.slot[body], m = this.moving.length;
    const before = Math.max(frame - 1, 0), after = Math.min(frame + 1, this.count - 1);
    const interval = this.time[after] - this.time[before];
    if (s < 0 || !(interval > 0)) return { linear: [0, 0, 0], angular: [0, 0, 0] };
    const a = before * m + s, b = after * m + s, p = this.position, r = this.rotation;
    const linear = [0, 1, 2].map((i) => (p[3 * b + i] - p[3 * a + i]) / interval);
    const [aw, ax, ay, az] = r.subarray(4 * a, 4 * a + 4), [bw, bx, by, bz] = r.subarray(4 * b, 4 * b + 4);
    // The rotation from a to b, as a quaternion b ā.
    let w = bw * aw + bx * ax + by * ay + bz * az;
    let axis = [
      bx * aw - bw * ax - by * az + bz * ay,
      by * aw - bw * ay - bz * ax + bx * az,
      bz * aw - bw * az - bx * ay + by * ax,
    ];
    if (w < 0) { w = -w; axis = scaled(axis, -1); }
    const sine = norm(axis);
    const angle = 2 * Math.atan2(sine, w);
    return { linear, angular: sine > 1e-12 ? scaled(axis, angle / sine / interval) : [0, 0, 0] };
  }

  // Contacts of a frame: first and one past the last.
  contactsOf(frame) {
    return this.count ? [this.contacts.first[frame], this.contacts.first[frame + 1]] : [0, 0];
  }
}

// Contacts, each predicted from the same one of the frame before or else from the one listed before.
function readContacts(packed, frames, exponents) {
  const count = integers(packed, 'contact.count'), bodies = integers(packed, 'contact.bodies');
  const first = new Int32Array(frames + 1);
  for (let f = 0; f < frames; f++) first[f + 1] = first[f] + count[f];
  const total = first[frames];
  const origin = new Int32Array(total);
  let before = new Map();
  for (let f = 0; f < frames; f++) {
    const now = new Map(), ordinals = new Map();
    for (let k = first[f]; k < first[f + 1]; k++) {
      const pair = `${bodies[2 * k]} ${bodies[2 * k + 1]}`;
      const ordinal = ordinals.get(pair) ?? 0;
      const key = `${pair} ${ordinal}`;
      origin[k] = before.get(key) ?? k - 1;
      now.set(key, k);
      ordinals.set(pair, ordinal + 1);
    }
    before = now;
  }
  const predicted = (name, series) => {
    const rows = integers(packed, name);
    for (let k = 0; k < total; k++) {
      if (origin[k] < 0) continue;
      for (let s = 0; s < series; s++) rows[k * series + s] = (rows[k * series + s] + rows[origin[k] * series + s]) | 0;
    }
    return numbers(packed, name, rows);
  };
  // A point has the quantum of the finer of its two bodies.
  const point = Float32Array.from(predicted('contact.point', 3));
  for (let k = 0; k < total; k++) {
    const quantum = 2 ** Math.min(exponents[bodies[2 * k]], exponents[bodies[2 * k + 1]]);
    for (let s = 3 * k; s < 3 * k + 3; s++) point[s] *= quantum;
  }
  return {
    first,
    bodies,
    point,
    normal: directions(predicted('contact.normal', 2)),
    force: Float32Array.from(predicted('contact.force', 3)),
    gap: predicted('contact.gap', 1),
  };
}
