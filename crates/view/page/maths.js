// Vectors, quaternions (w, x, y, z) and 4×4 matrices (columns first, as WebGL wants them).

export const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const norm = (a) => Math.hypot(a[0], a[1], a[2]);
export const unit = (a) => scaled(a, 1 / (norm(a) || 1));
export const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

// A vector rotated by a quaternion.
export function turn(q, v) {
  const [w, x, y, z] = q;
  const tx = 2 * (y * v[2] - z * v[1]);
  const ty = 2 * (z * v[0] - x * v[2]);
  const tz = 2 * (x * v[1] - y * v[0]);
  return [
    v[0] + w * tx + y * tz - z * ty,
    v[1] + w * ty + z * tx - x * tz,
    v[2] + w * tz + x * ty - y * tx,
  ];
}

// The product of two poses, each position and quaternion in seven numbers, into `out` at `at`.
export function compose(a, ai, b, bi, out, at) {
  const w = a[ai + 3], x = a[ai + 4], y = a[ai + 5], z = a[ai + 6];
  const bx = b[bi], by = b[bi + 1], bz = b[bi + 2];
  const tx = 2 * (y * bz - z * by), ty = 2 * (z * bx - x * bz), tz = 2 * (x * by - y * bx);
  out[at] = a[ai] + bx + w * tx + y * tz - z * ty;
  out[at + 1] = a[ai + 1] + by + w * ty + z * tx - x * tz;
  out[at + 2] = a[ai + 2] + bz + w * tz + x * ty - y * tx;
  const qw = b[bi + 3], qx = b[bi + 4], qy = b[bi + 5], qz = b[bi + 6];
  out[at + 3] = w * qw - x * qx - y * qy - z * qz;
  out[at + 4] = w * qx + x * qw + y * qz - z * qy;
  out[at + 5] = w * qy - x * qz + y * qw + z * qx;
  out[at + 6] = w * qz + x * qy - y * qx + z * qw;
}

// Between two quaternions in arrays, along the shorter great circle.
export function slerp(a, ai, b, bi, t, out, at) {
  let cosine = a[ai] * b[bi] + a[ai + 1] * b[bi + 1] + a[ai + 2] * b[bi + 2] + a[ai + 3] * b[bi + 3];
  const sign = cosine < 0 ? -1 : 1;
  cosine = Math.min(1, cosine * sign);
  let p = 1 - t, q = t;
  if (cosine < 0.9995) {
    const angle = Math.acos(cosine), sine = Math.sin(angle);
    p = Math.sin(p * angle) / sine;
    q = Math.sin(q * angle) / sine;
  }
  let sum = 0;
  for (let k = 0; k < 4; k++) {
    const x = p * a[ai + k] + sign * q * b[bi + k];
    out[at + k] = x;
    sum += x * x;
  }
  const scale = 1 / (Math.sqrt(sum) || 1);
  for (let k = 0; k < 4; k++) out[at + k] *= scale;
}

export function multiply(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++) {
    for (let r = 0; r < 4; r++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[k * 4 + r] * b[c * 4 + k];
      out[c * 4 + r] = sum;
    }
  }
  return out;
}

// View matrix: from world to a frame at `eye` that looks along −z at `target`.
export function lookAt(eye, target, up) {
  const back = unit(subtract(eye, target));
  let right = cross(up, back);
  right = norm(right) > 1e-6 ? unit(right) : unit(cross([0, 1, 0], back));
  const top = cross(back, right);
  return new Float32Array([
    right[0], top[0], back[0], 0,
    right[1], top[1], back[1], 0,
    right[2], top[2], back[2], 0,
    -dot(right, eye), -dot(top, eye), -dot(back, eye), 1,
  ]);
}

export function perspective(fov, aspect, near, far) {
  const f = 1 / Math.tan(fov / 2), d = near - far;
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / d, -1, 0, 0, (2 * far * near) / d, 0]);
}

export function orthographic(half, near, far) {
  const d = near - far;
  return new Float32Array([1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, 2 / d, 0, 0, 0, (far + near) / d, 1]);
}

// Formats a number in four digits, with an exponent for very large and very small ones.
export function digits(x, count = 4) {
  if (Number.isNaN(x)) return '–';
  if (!Number.isFinite(x)) return String(x);
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) {
    const [mantissa, exponent] = x.toExponential(Math.max(0, count - 2)).split('e');
    return `${mantissa}e${Number(exponent)}`;
  }
  return String(Number(x.toPrecision(count)));
}
