// Shows several recordings of one scene side by side, on one timeline and from one camera.
//
// All pictures are drawn in one graphics context, of which browsers allow only a few, and copied into the
// canvases of the report.
import { Broken } from './codec.js';
import { readRecording } from './recording.js';
import { Camera, attachPointer } from './camera.js';
import { usualForce } from './glyphs.js';
import { Renderer } from './renderer.js';
import { Player } from './player.js';
import { Transport, byId } from './controls.js';

// Time without change after which the pictures are refined [ms].
const PATIENCE = 250;
// Passes before a refined picture is better than the quick one.
const SETTLED = 12;

// A timeline that marks the faults of any run.
function merged(longest, recordings) {
  const any = (name) => longest.figures[name].map((_, k) => recordings.reduce((bits, r) => bits | (r.figures[name][k] ?? 0), 0));
  const figures = { ...longest.figures, flags: any('flags') };
  return Object.assign(Object.create(longest), { figures });
}

// The cursor of the clock in every chart over time; a click or a drag there moves the clock.
class Cursors {
  constructor(player) {
    this.player = player;
    this.panels = [];
    for (const figure of document.querySelectorAll('figure.timed')) {
      const from = Number(figure.dataset.from), to = Number(figure.dataset.to);
      for (const frame of figure.querySelectorAll('svg g > rect.sp-frame')) this.add(frame, from, to);
    }
  }

  add(frame, from, to) {
    const width = Number(frame.getAttribute('width')), height = Number(frame.getAttribute('height'));
    const part = (name, attributes) => {
      const element = document.createElementNS(frame.namespaceURI, name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      frame.parentNode.append(element);
      return element;
    };
    const line = part('line', { class: 'cursor', y1: 0, y2: height });
    const label = part('text', { class: 'cursor', y: 12 });
    // A transparent overlay that receives pointer events of the whole area.
    const field = part('rect', { class: 'field', width, height });
    const seek = (event) => {
      const box = field.getBoundingClientRect();
      this.player.playing = false;
      this.player.seek(from + ((event.clientX - box.left) / box.width) * (to - from));
    };
    field.addEventListener('pointerdown', (event) => { field.setPointerCapture(event.pointerId); seek(event); });
    field.addEventListener('pointermove', (event) => { if (event.buttons) seek(event); });
    this.panels.push({ from, to, width, line, label });
  }

  show() {
    const { time } = this.player;
    for (const { from, to, width, line, label } of this.panels) {
      const x = (width * (time - from)) / (to - from), late = x > width / 2;
      line.setAttribute('x1', x);
      line.setAttribute('x2', x);
      label.setAttribute('x', x + (late ? -4 : 4));
      label.setAttribute('text-anchor', late ? 'end' : 'start');
      label.textContent = `${time.toFixed(2)} s`;
    }
  }
}

class Views {
  constructor(recordings) {
    this.canvases = [...document.querySelectorAll('canvas.motion')];
    this.picture = document.createElement('canvas');
    this.renderers = [];
    for (const recording of recordings) {
      this.renderers.push(new Renderer(this.picture, recording, this.renderers[0] ?? null));
    }
    const [first] = this.renderers;
    const usual = usualForce(recordings[0].contacts);
    for (const renderer of this.renderers) {
      renderer.newtonsPerMetre = usual;
      // Pressures differ from run to run, and the report has no legend for them.
      renderer.options.patches = false;
      if (window.location.hash === '#draft') renderer.options.refine = false;
    }
    // A run that stopped early stays at its last frame.
    this.longest = recordings.reduce((a, b) => (b.end > a.end ? b : a));
    this.player = new Player(this.longest);
    this.transport = new Transport(this.player, merged(this.longest, recordings));
    this.cursors = new Cursors(this.player);
    this.pens = this.canvases.map((canvas) => canvas.getContext('2d'));
    this.camera = new Camera();
    this.resize();
    this.camera.reset(first.bounds, this.aspect);
    this.wire();
    this.player.onChange(() => this.moved());
    // The last frame shows the differences best; playing begins at the start.
    this.player.seek(this.longest.end);
    this.fit();
    this.last = performance.now();
    requestAnimationFrame((now) => this.tick(now));
  }

  wire() {
    const { player } = this;
    for (const canvas of this.canvases) {
      attachPointer(canvas, this.camera, () => this.touched(), () => {});
      canvas.addEventListener('dblclick', () => this.reset());
    }
    for (const id of ['points', 'forces']) {
      byId(id).addEventListener('change', () => {
        for (const renderer of this.renderers) renderer.set({ [id]: byId(id).checked });
        this.touched();
      });
    }
    byId('reset').addEventListener('click', () => this.reset());
    byId('fit').addEventListener('click', () => this.fit());
    const actions = {
      ' ': () => player.toggle(), ArrowLeft: (n) => player.step(-n), ArrowRight: (n) => player.step(n),
      Home: () => player.step(-this.longest.count), End: () => player.step(this.longest.count), r: () => this.reset(), z: () => this.fit(),
    };
    // Only for the pictures: elsewhere these keys scroll the page.
    byId('views').addEventListener('keydown', (event) => {
      const action = actions[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey || event.target.nodeName !== 'CANVAS') return;
      event.preventDefault();
      action(event.shiftKey ? 10 : 1);
    });
    new ResizeObserver(() => this.touched()).observe(this.canvases[0]);
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    const dress = () => {
      for (const renderer of this.renderers) renderer.setTheme(dark.matches ? 'dark' : 'light');
      this.touched();
    };
    dark.addEventListener('change', dress);
    dress();
    // Pictures outside the window are not drawn.
    this.seen = true;
    new IntersectionObserver((entries) => {
      this.seen = entries[entries.length - 1].isIntersecting;
      this.touched();
    }).observe(byId('views'));
  }

  get aspect() { return this.picture.width / this.picture.height; }

  // Fits the whole run.
  reset() {
    this.camera.reset(this.renderers[0].bounds, this.aspect);
    this.touched();
  }

  // Fits the current frame.
  fit() {
    const [first] = this.renderers, time = Math.min(this.player.time, first.recording.end);
    this.camera.fit({ ...first.findBounds(time, time), radius: first.bounds.radius }, this.aspect);
    first.update(time);
    this.touched();
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2), [first] = this.canvases;
    const width = Math.max(1, Math.round(first.clientWidth * ratio));
    const height = Math.max(1, Math.round(first.clientHeight * ratio));
    if (this.picture.width === width && this.picture.height === height) return;
    for (const canvas of [this.picture, ...this.canvases]) Object.assign(canvas, { width, height });
    for (const renderer of this.renderers) renderer.passes = 0;
  }

  touched() {
    this.stale = true;
    this.changedAt = performance.now();
  }

  moved() {
    for (const renderer of this.renderers) renderer.update(Math.min(this.player.time, renderer.recording.end));
    this.transport.show();
    this.cursors.show();
    this.touched();
  }

  show(k) { this.pens[k].drawImage(this.picture, 0, 0); }

  tick(now) {
    const elapsed = Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    this.player.advance(elapsed);
    if (this.stale && this.seen) {
      this.stale = false;
      this.resize();
      this.renderers.forEach((renderer, k) => {
        renderer.draw(this.camera);
        this.show(k);
      });
    } else if (!this.player.playing && this.seen && now - this.changedAt > PATIENCE) {
      // The picture with the fewest passes is next.
      const waiting = this.renderers.filter((renderer) => renderer.canRefine);
      const next = waiting.reduce((a, b) => (a && a.passes <= b.passes ? a : b), null);
      if (next) {
        next.refine(this.camera);
        if (next.passes >= SETTLED) this.show(this.renderers.indexOf(next));
      }
    }
    requestAnimationFrame((then) => this.tick(then));
  }
}

// A figure as a file of its own.
function wireFigures() {
  for (const button of document.querySelectorAll('button.keep')) {
    button.addEventListener('click', () => {
      const svg = button.closest('figure').querySelector('svg').cloneNode(true);
      for (const part of svg.querySelectorAll('.cursor, .field')) part.remove();
      const text = new XMLSerializer().serializeToString(svg);
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
      link.download = `${button.dataset.name}.svg`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }
}

async function showMotion() {
  wireFigures();
  const elements = [...document.querySelectorAll('script.recording')];
  if (!elements.length) return;
  try {
    const recordings = [];
    for (const element of elements) recordings.push(await readRecording(element));
    window.stiction = new Views(recordings);
    document.body.dataset.state = 'ready';
  } catch (error) {
    byId('message').textContent = error instanceof Broken ? error.message
      : `The motion cannot be drawn: ${error.message}. The rest of the report does not depend on it.`;
    byId('message').hidden = false;
    document.body.dataset.state = 'broken';
  }
}

showMotion();
