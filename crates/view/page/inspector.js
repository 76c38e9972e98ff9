// The panel with the figures of one body at the current frame.
import { digits, norm } from './maths.js';
import { loadOn } from './glyphs.js';

// Shows round-off beside larger numbers as zero.
function vector(v) {
  const faint = Math.max(1e-9, 1e-6 * Math.max(...[...v].map(Math.abs)));
  return [...v].map((x) => digits(Math.abs(x) < faint ? 0 : x, 4)).join(', ');
}
const MOST_CONTACTS = 8;
const degrees = (x) => (x * 180) / Math.PI;

// Roll, pitch and yaw [rad] of a quaternion.
function angles([w, x, y, z]) {
  return [
    Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
    Math.asin(Math.max(-1, Math.min(1, 2 * (w * y - z * x)))),
    Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
  ];
}

export class Inspector {
  constructor(elements, recording) {
    this.recording = recording;
    this.elements = elements;
    this.body = -1;
    const names = [...recording.bodies, ...recording.softs.map((soft, k) => soft.name || `soft ${k}`)];
    this.names = names;
    elements.select.append(...names.map((name, k) => new Option(name, String(k))));
  }

  pick(body) {
    this.body = body;
    this.elements.select.value = String(body);
  }

  rows(frame, poses) {
    const { recording, body } = this;
    if (body >= recording.bodies.length) {
      const soft = recording.softs[body - recording.bodies.length];
      return { rows: [['vertices', soft.vertices], ['triangles', soft.triangles.length / 3]], contacts: [] };
    }
    const pose = poses.subarray(7 * body, 7 * body + 7);
    const { linear, angular } = recording.velocity(body, frame);
    const { total, list } = loadOn(recording, frame, body);
    return {
      rows: [
        ['position', `${vector(pose.subarray(0, 3))} m`],
        ['roll, pitch, yaw', `${vector(angles(pose.subarray(3, 7)).map(degrees))} °`],
        ['quaternion w, x, y, z', vector(pose.subarray(3, 7))],
        ['velocity', `${vector(linear)} m/s`],
        ['speed', `${digits(norm(linear))} m/s`],
        ['angular velocity', `${vector(angular)} rad/s`],
        ['contact force', `${vector(total)} N`],
        ['its size', `${digits(norm(total))} N`],
      ],
      contacts: list,
    };
  }

  show(frame, poses) {
    const { panel, title, facts, contacts } = this.elements;
    const picked = this.body >= 0;
    panel.classList.toggle('picked', picked);
    if (!picked) return;
    title.textContent = this.names[this.body];
    const { rows, contacts: list } = this.rows(frame, poses);
    facts.replaceChildren(...rows.flatMap(([name, value]) => {
      const term = document.createElement('dt'), detail = document.createElement('dd');
      term.textContent = name;
      detail.textContent = value;
      return [term, detail];
    }));
    const line = (cells, kind) => {
      const row = document.createElement('tr');
      for (const text of cells) {
        const cell = document.createElement(kind);
        cell.textContent = text;
        row.append(cell);
      }
      return row;
    };
    const body = list.slice(0, MOST_CONTACTS).map((c) => line([
      this.names[c.other], digits(c.normal, 3), digits(c.friction, 3), digits(1e3 * c.gap, 2)], 'td'));
    const more = list.length - MOST_CONTACTS;
    if (more > 0) body.push(line([`and ${more} more`], 'td'));
    contacts.hidden = !list.length;
    contacts.replaceChildren(line(['contact with', 'normal [N]', 'friction [N]', 'gap [mm]'], 'th'), ...body);
  }
}
