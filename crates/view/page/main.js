// Builds the page.
import { digits, norm, subtract, add } from './maths.js';
import { Broken } from './codec.js';
import { readRecording } from './recording.js';
import { Camera, attachPointer } from './camera.js';
import { usualForce } from './glyphs.js';
import { hasPatches, pressureGradient } from './patches.js';
import { Renderer } from './renderer.js';
import { Player } from './player.js';
import { Plots } from './plots.js';
import { Inspector } from './inspector.js';
import { Transport, byId, wireKeys, wireSwitches } from './controls.js';

// Time without change after which the picture is refined [ms].
const PATIENCE = 250;

function complain(text) {
  const message = byId('message');
  message.textContent = text;
  message.hidden = false;
}

function makeRenderer(canvas, recording) {
  try {
    return new Renderer(canvas, recording);
  } catch (error) {
    complain(`The motion cannot be drawn: ${error.message}. The plots work nevertheless. ` +
      'WebGL2 may be switched off in this browser, or the graphics driver too old.');
    document.body.classList.add('flat');
    return null;
  }
}

class Page {
  constructor(recording) {
    this.recording = recording;
    this.canvas = byId('view');
    this.renderer = makeRenderer(this.canvas, recording);
    this.camera = new Camera();
    this.player = new Player(recording);
    this.transport = new Transport(this.player, recording);
    this.plots = new Plots(byId('plots'), recording, this.player);
    this.inspector = new Inspector({
      panel: byId('inspector'), select: byId('body'), title: byId('picked'), facts: byId('facts'), contacts: byId('contacts'),
    }, recording);
    this.following = null;
    this.describe();
    this.wire();
    if (this.renderer) {
      byId('clearWalls').checked = this.renderer.options.clearWalls;
      this.renderer.newtonsPerMetre = usualForce(recording.contacts);
      // The address ends in #draft: for slow machines.
      if (window.location.hash === '#draft') this.renderer.options.refine = false;
      this.renderer.resize();
      this.camera.reset(this.renderer.bounds, this.aspect, this.covered);
    }
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    this.setTheme(dark.matches ? 'dark' : 'light');
    dark.addEventListener('change', () => this.setTheme(dark.matches ? 'dark' : 'light'));
    this.player.onChange(() => this.moved());
    this.moved();
    this.last = performance.now();
    requestAnimationFrame((now) => this.tick(now));
  }

  get aspect() { return this.canvas.width / this.canvas.height; }

  // Fraction of the picture under the options panel, if enough of the picture remains beside it.
  get covered() {
    const panel = byId('options'), part = (panel.offsetLeft + panel.offsetWidth) / this.canvas.clientWidth;
    return panel.open && part < 0.35 ? part : 0;
  }

  get poses() { return this.renderer ? this.renderer.poses : this.flatPoses; }

  describe() {
    const { recording } = this;
    document.title = recording.title;
    byId('title').textContent = recording.title;
    const contacts = recording.contacts.gap.length;
    const bodies = (n, kind) => `${n} ${kind} ${n === 1 ? 'body' : 'bodies'}`;
    const facts = [bodies(recording.moving.length, 'moving')];
    if (recording.softs.length) facts.push(bodies(recording.softs.length, 'soft'));
    facts.push(`solver ${recording.solver || 'unknown'}`, `step ${digits(1e3 * recording.timeStep)} ms`,
      `${recording.count} frames`);
    if (contacts) facts.push(`${digits(contacts / recording.count, 3)} contacts per frame`);
    byId('about').textContent = facts.join(' · ');
    if (!recording.count) complain('The recording has no frames.');
    this.flatPoses = new Float32Array(7 * recording.bodies.length);
    byId('scaleLegend').hidden = true;
    byId('patchesLabel').hidden = !hasPatches(recording);
    byId('pressureBar').style.background = pressureGradient();
    byId('pressureText').textContent = `${digits(recording.patches.largest, 3)} Pa`;
  }

  wire() {
    const { player, transport, renderer } = this;
    const set = (changes) => {
      if (renderer) renderer.set(changes);
      this.showScale();
      this.showPressures();
      this.touched();
    };
    const { flip, nextMode } = wireSwitches(set);
    byId('body').addEventListener('change', () => this.pick(Number(byId('body').value)));
    byId('drop').addEventListener('click', () => this.pick(-1));
    byId('follow').addEventListener('click', () => this.follow());
    byId('fit').addEventListener('click', () => this.fit());
    byId('reset').addEventListener('click', () => this.reset());
    byId('theme').addEventListener('click', () => this.setTheme(this.theme === 'light' ? 'dark' : 'light'));
    byId('save').addEventListener('click', () => this.save());
    byId('help').addEventListener('click', () => this.help());
    byId('options').addEventListener('toggle', () => this.touched());
    wireKeys({
      ' ': () => player.toggle(), ArrowLeft: (n) => player.step(-n), ArrowRight: (n) => player.step(n),
      Home: () => player.step(-this.recording.count), End: () => player.step(this.recording.count),
      '[': () => transport.changeSpeed(-1), ']': () => transport.changeSpeed(1), l: () => transport.toggleLoop(),
      h: () => flip('patches'), c: () => flip('points'), f: () => flip('forces'), a: () => flip('frames'), g: () => flip('grid'),
      x: () => flip('seeThrough'), v: nextMode, z: () => this.fit(), r: () => this.reset(), '.': () => this.follow(),
      Escape: () => (byId('shortcuts').open ? byId('shortcuts').close() : this.pick(-1)),
      t: () => byId('theme').click(), p: () => this.save(), '?': () => this.help(),
    });
    if (!renderer) return;
    attachPointer(this.canvas, this.camera, () => this.touched(), (x, y) => {
      this.pick(renderer.under(this.camera, x, y));
    });
    new ResizeObserver(() => this.touched()).observe(this.canvas);
    this.canvas.addEventListener('webglcontextlost', (event) => {
      event.preventDefault();
      complain('The browser lost the graphics context. Reload the page.');
    });
  }

  // Schedules a redraw.
  touched() {
    this.stale = true;
    this.changedAt = performance.now();
  }

  // Called when the time changes.
  moved() {
    const { player, renderer, recording } = this;
    if (renderer) renderer.update(player.time);
    else recording.poses(player.time, this.flatPoses);
    if (this.following && this.inspector.body >= 0) {
      const now = this.placeOf(this.inspector.body);
      this.camera.target = add(this.camera.target, subtract(now, this.following));
      this.following = now;
    }
    this.transport.show();
    this.plots.cursor();
    this.inspector.show(player.frame, this.poses);
    this.touched();
  }

  placeOf(body) {
    const { recording, renderer } = this;
    if (body < recording.bodies.length) return [...this.poses.subarray(7 * body, 7 * body + 3)];
    const entry = renderer.softs[body - recording.bodies.length];
    return [...renderer.softPositions.subarray(3 * entry.first, 3 * entry.first + 3)];
  }

  pick(body) {
    this.inspector.pick(body);
    if (body < 0) this.setFollowing(false);
    else if (this.following) this.following = this.placeOf(body);
    if (this.renderer) this.renderer.pick(body);
    this.inspector.show(this.player.frame, this.poses);
    this.touched();
  }

  setFollowing(on) {
    this.following = on ? this.placeOf(this.inspector.body) : null;
    byId('follow').setAttribute('aria-pressed', String(on));
  }

  follow() {
    if (this.inspector.body < 0) return;
    this.setFollowing(!this.following);
    if (this.following) this.camera.target = [...this.following];
    this.touched();
  }

  fit() {
    if (!this.renderer) return;
    const { bounds } = this.renderer, { time } = this.player;
    this.camera.fit({ ...this.renderer.findBounds(time, time), radius: bounds.radius }, this.aspect, this.covered);
    this.renderer.update(time);
    this.touched();
  }

  reset() {
    if (!this.renderer) return;
    this.setFollowing(false);
    this.camera.reset(this.renderer.bounds, this.aspect, this.covered);
    this.touched();
  }

  setTheme(name) {
    this.theme = name;
    document.documentElement.dataset.theme = name;
    byId('theme').setAttribute('aria-label', name === 'light' ? 'Dark theme' : 'Light theme');
    if (this.renderer) this.renderer.setTheme(name);
    this.plots.draw();
    this.touched();
  }

  // Legend of the patches' colours: the same for all frames.
  showPressures() {
    const { renderer, recording, player } = this;
    if (!renderer) return;
    byId('pressureLegend').hidden = !(renderer.options.patches && hasPatches(recording));
    const omitted = recording.patches.omitted[player.frame] ?? 0;
    byId('pressureCut').textContent = omitted ? `; ${omitted} small polygons left out` : '';
  }

  // Legend of the force arrows, for a round force.
  showScale() {
    const { renderer } = this;
    if (!renderer) return;
    byId('scaleLegend').hidden = !renderer.options.forces;
    const usual = 0.1 * renderer.bounds.radius / renderer.metresPerNewton;
    const power = 10 ** Math.floor(Math.log10(usual));
    const newtons = power * [1, 2, 5].findLast((m) => m * power <= usual);
    const pixels = (newtons * renderer.metresPerNewton * this.canvas.clientHeight) /
      (2 * Math.tan(0.3) * norm(subtract(this.camera.eye, this.camera.target)));
    byId('scaleBar').style.width = `${Math.max(4, Math.min(160, pixels))}px`;
    byId('scaleText').textContent = `${digits(newtons)} N`;
    byId('scaleCut').textContent = renderer.cut ? `; ${renderer.cut} arrows cut short` : '';
  }

  save() {
    const { renderer, camera, canvas } = this;
    if (!renderer) return;
    if (renderer.passes >= 12) renderer.refine(camera);
    else renderer.draw(camera);
    const name = `${this.recording.title.replace(/[^\w.-]+/g, '_') || 'picture'}-${this.player.time.toFixed(3)}s.png`;
    canvas.toBlob((blob) => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(blob);
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }, 'image/png');
  }

  help() {
    const dialog = byId('shortcuts');
    if (dialog.open) dialog.close(); else dialog.showModal();
  }

  tick(now) {
    const { renderer, camera, player } = this;
    const elapsed = Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    player.advance(elapsed);
    if (renderer) {
      renderer.resize();
      if (this.stale) {
        this.stale = false;
        this.showScale();
        this.showPressures();
        renderer.draw(camera);
      } else if (!player.playing && now - this.changedAt > PATIENCE && renderer.canRefine) {
        // As many passes as fit into a display frame.
        for (let k = 0; k < (elapsed < 0.03 ? 3 : 1) && renderer.canRefine; k++) renderer.refine(camera);
      }
    }
    requestAnimationFrame((next) => this.tick(next));
  }
}

async function start() {
  try {
    window.stiction = new Page(await readRecording(byId('recording')));
    document.body.dataset.state = 'ready';
  } catch (error) {
    complain(error instanceof Broken ? error.message : `The page failed: ${error.message}`);
    document.body.dataset.state = 'broken';
    if (!(error instanceof Broken)) throw error;
  }
}

start();
