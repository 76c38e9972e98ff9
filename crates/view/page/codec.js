// Decodes the numbers in the page: base64, inflate, byte planes, zigzag signs, prediction. The inverse of
// `pack.rs`.

const LAYOUT = 4;

// An error in the data, with a message for the user.
export class Broken extends Error {}

export async function unpack(element) {
  if (!element) throw new Broken('The file holds no recording. It may have been cut off.');
  const text = element.textContent.trim();
  const expected = Number(element.dataset.length);
  if (text.length !== expected) {
    throw new Broken(
      `The recording is cut off: found ${text.length} of ${expected} characters. ` +
      'Copy or write the file again.');
  }
  if (typeof DecompressionStream === 'undefined') {
    throw new Broken('This browser cannot inflate data (no DecompressionStream). Use one from 2023 or later.');
  }
  let bytes;
  try {
    bytes = await inflate(fromBase64(text));
  } catch (error) {
    throw new Broken(`The recording is damaged and cannot be inflated (${error.message}).`);
  }
  try {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    if (header.version !== LAYOUT) {
      throw new Broken(`The recording has layout ${header.version}; this page reads layout ${LAYOUT}.`);
    }
    return { header, data: bytes.subarray(4 + length) };
  } catch (error) {
    if (error instanceof Broken) throw error;
    throw new Broken(`The recording is damaged: its header cannot be read (${error.message}).`);
  }
}

function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = binary.charCodeAt(k);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The integers of a column, row after row.
export function integers({ header, data }, name) {
  const column = header.columns[name];
  if (!column) throw new Broken(`The recording has no column "${name}".`);
  const { at, count, width, series, order } = column;
  if (at + count * width > data.length) throw new Broken(`Column "${name}" is cut off.`);
  const rows = new Int32Array(count);
  const n = series ? count / series : 0;
  for (let s = 0; s < series; s++) {
    let last = 0, slope = 0;
    for (let k = 0; k < n; k++) {
      let z = 0;
      for (let p = 0, i = at + s * n + k; p < width; p++, i += count) z |= data[i] << (8 * p);
      const left = (z >>> 1) ^ -(z & 1);
      if (order === 0) {
        rows[k * series + s] = left;
        continue;
      }
      const change = order === 2 ? (left + slope) | 0 : left;
      last = (last + change) | 0;
      slope = k === 0 ? 0 : change;
      rows[k * series + s] = last;
    }
  }
  return rows;
}

// The values of a column's integers.
export function numbers({ header }, name, rows) {
  const { quantum, offset, shift, quanta, series } = header.columns[name];
  if (quanta) {
    // Runs of series with one quantum each, a power of two.
    const each = new Float64Array(series);
    let at = 0;
    for (const [count, exponent] of quanta) each.fill(2 ** exponent, at, at += count);
    return Float64Array.from(rows, (k, i) => each[i % series] * k);
  }
  if (shift === undefined) return Float64Array.from(rows, (k) => offset + quantum * k);
  const bits = new Int32Array(rows.length);
  for (let k = 0; k < rows.length; k++) {
    const ordered = rows[k] << shift;
    bits[k] = ordered ^ ((ordered >> 31) & 0x7fffffff);
  }
  return Float64Array.from(new Float32Array(bits.buffer));
}

export const column = (packed, name) => numbers(packed, name, integers(packed, name));

// Unit vectors from pairs of numbers: the unfolded octahedron.
export function directions(pairs) {
  const out = new Float32Array((pairs.length / 2) * 3);
  for (let k = 0; k < pairs.length / 2; k++) {
    let x = pairs[2 * k], y = pairs[2 * k + 1];
    const z = 1 - Math.abs(x) - Math.abs(y);
    const back = Math.max(-z, 0);
    x -= x >= 0 ? back : -back;
    y -= y >= 0 ? back : -back;
    const scale = 1 / (Math.hypot(x, y, z) || 1);
    out.set([x * scale, y * scale, z * scale], 3 * k);
  }
  return out;
}
