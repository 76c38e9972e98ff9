// Buttons, sliders and keys.
import { clamp, digits } from './maths.js';
import { SPEEDS } from './player.js';

export const byId = (id) => document.getElementById(id);

const KEYS = [
  ['Space', 'play or pause'], ['← →', 'one frame back or on (with Shift ten)'], ['Home End', 'first or last frame'],
  ['[ ]', 'slower or faster'], ['L', 'loop'], ['C', 'contact points'], ['F', 'force arrows'], ['H', 'contact patches by pressure'],
  ['A', 'frames of bodies'], ['G', 'grid'], ['V', 'visual or collision shapes'], ['X', 'transparent bodies'],
  ['Z', 'fit the current frame'], ['R', 'reset the view'], ['.', 'follow the picked body'], ['Esc', 'pick nothing'],
  ['T', 'light or dark'], ['P', 'save a picture'], ['?', 'this list'],
];

// Faults of steps in the order of their bits, from the least to the worst; `severe` ones let a run fail.
const FAULTS = [
  { name: 'softened', severe: false }, { name: 'geometry uncertain', severe: false },
  { name: 'motion not resolved', severe: true }, { name: 'correction not done', severe: true },
  { name: 'problem not solved', severe: true },
];

// The faults of a set of flags, the worst first.
const faults = (flags) => FAULTS.filter((_, bit) => flags & (1 << bit)).reverse();

export class Transport {
  constructor(player, recording) {
    Object.assign(this, { player, recording });
    const slider = byId('scrub');
    slider.max = String(Math.max(0, recording.count - 1));
    slider.disabled = recording.count < 2;
    slider.addEventListener('input', () => { player.playing = false; player.seekFrame(Number(slider.value)); });
    byId('play').addEventListener('click', () => player.toggle());
    byId('back').addEventListener('click', () => player.step(-1));
    byId('forward').addEventListener('click', () => player.step(1));
    byId('first').addEventListener('click', () => player.step(-recording.count));
    byId('loop').addEventListener('click', () => this.toggleLoop());
    const speed = byId('speed');
    speed.append(...SPEEDS.map((s) => new Option(`${s} ×`, String(s))));
    speed.addEventListener('change', () => this.setSpeed(Number(speed.value)));
    this.setSpeed(1);
    this.drawMarks();
  }

  toggleLoop() {
    this.player.loop = !this.player.loop;
    byId('loop').setAttribute('aria-pressed', String(this.player.loop));
  }

  setSpeed(speed) {
    this.player.speed = speed;
    byId('speed').value = String(speed);
  }

  changeSpeed(by) {
    this.setSpeed(SPEEDS[clamp(SPEEDS.indexOf(this.player.speed) + by, 0, SPEEDS.length - 1)]);
  }

  // Frames with steps that are not ok: red if a step cannot be relied upon, otherwise amber.
  drawMarks() {
    const { flags } = this.recording.figures, n = this.recording.count;
    const canvas = byId('marks');
    canvas.width = clamp(n, 1, 1000);
    canvas.height = 1;
    const pen = canvas.getContext('2d');
    let missed = 0;
    for (let k = 0; k < n; k++) {
      if (!flags[k]) continue;
      missed += 1;
      pen.fillStyle = faults(flags[k]).some((fault) => fault.severe) ? '#d1495b' : '#e9a23b';
      pen.fillRect(Math.floor((k / n) * canvas.width), 0, Math.max(1, canvas.width / n), 1);
    }
    canvas.title = missed ? `${missed} frames with steps that are not ok` : 'all steps are ok';
    canvas.setAttribute('aria-label', canvas.title);
  }

  show() {
    const { player, recording } = this;
    const button = byId('play');
    button.setAttribute('aria-label', player.playing ? 'Pause' : 'Play');
    button.dataset.state = player.playing ? 'playing' : 'paused';
    const frame = player.frame;
    byId('scrub').value = String(frame);
    byId('scrub').setAttribute('aria-valuetext', `${digits(player.time)} s`);
    byId('time').textContent = `${player.time.toFixed(3)} s`;
    byId('frame').textContent = recording.count ? `frame ${frame + 1} of ${recording.count}` : 'no frames';
    const found = recording.count ? faults(recording.figures.flags[frame]) : [];
    const status = byId('status');
    status.hidden = !found.length;
    status.textContent = found.map((fault) => fault.name).join(', ');
    status.classList.toggle('severe', found.some((fault) => fault.severe));
  }
}

// Checkboxes that set an option of the renderer. Returns the toggles for the keys.
export function wireSwitches(setOption) {
  const flip = (id) => { const box = byId(id); box.checked = !box.checked; box.dispatchEvent(new Event('change')); };
  for (const id of ['patches', 'points', 'forces', 'frames', 'grid', 'shadows', 'seeThrough', 'clearWalls', 'onlyPicked']) {
    byId(id).addEventListener('change', () => setOption({ [id]: byId(id).checked }));
  }
  byId('mode').addEventListener('change', () => setOption({ mode: byId('mode').value }));
  byId('colours').addEventListener('change', () => setOption({ colours: byId('colours').value }));
  byId('forceScale').addEventListener('input', () => setOption({ forceScale: 10 ** Number(byId('forceScale').value) }));
  const nextMode = () => {
    const mode = byId('mode');
    mode.selectedIndex = (mode.selectedIndex + 1) % mode.options.length;
    mode.dispatchEvent(new Event('change'));
  };
  return { flip, nextMode };
}

// Whether the focused element uses a key itself.
function isFor(element, key) {
  if (element instanceof HTMLSelectElement) return key !== 'Escape';
  if (element instanceof HTMLButtonElement) return key === ' ';
  if (!(element instanceof HTMLInputElement)) return false;
  return element.type === 'range' ? element.id !== 'scrub' && key.length > 1 && key !== 'Escape' : key === ' ';
}

export function wireKeys(actions) {
  // A control clicked with the pointer loses the focus, so that keys reach the page.
  window.addEventListener('click', (event) => {
    const pressed = event.detail > 0 && event.target instanceof Element && event.target.closest('button, input');
    if (pressed) pressed.blur();
  });
  byId('keys').append(...KEYS.flatMap(([key, about]) => {
    const term = document.createElement('dt'), detail = document.createElement('dd');
    term.textContent = key;
    detail.textContent = about;
    return [term, detail];
  }));
  window.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || isFor(event.target, event.key)) return;
    event.preventDefault();
    action(event.shiftKey ? 10 : 1);
  });
}
