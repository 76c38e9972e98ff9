// Charts over time under one cursor: residuals, energy, time of a step, contacts.
import { clamp, digits } from './maths.js';
import { PLOT_COLOURS } from './palette.js';

const MARGIN = { left: 46, right: 10, top: 6, bottom: 6 };
const PLOT_HEIGHT = 88;

// The charts: title, unit, and series of one number per frame.
function charts(recording) {
  const f = recording.figures, n = recording.count;
  // A frame before the first step has no figures.
  const stepped = (values) => values.map((x, i) => (f.steps[i] > 0 ? x : NaN));
  const times = Float64Array.from({ length: n }, (_, i) => recording.phases.reduce((sum, _name, k) => sum + f.phases[i * recording.phases.length + k], 0)).sort();
  const quick = !(times[Math.floor(0.9 * n)] >= 5e-4), unit = quick ? 1e6 : 1e3;
  const phases = recording.phases.map((label, k) => ({
    label,
    values: Float64Array.from({ length: n }, (_, i) => (f.steps[i] > 0 ? unit * f.phases[i * recording.phases.length + k] : NaN)),
  }));
  const asleep = f.asleep.some((x) => x > 0) ? [{ label: 'asleep', values: stepped(f.asleep) }] : [];
  const total = Float64Array.from({ length: n }, (_, i) => f.kinetic[i] + f.potential[i]);
  const millimetres = (values) => stepped(values).map((x) => 1e3 * x);
  const equalities = f.equality_error.some((x) => x > 0)
    ? [{ label: 'equalities [mm, mrad]', values: millimetres(f.equality_error) }] : [];
  return [
    { id: 'residual', title: 'Residual', unit: 'm/s; momentum relative', log: true, series: [
      { label: 'exact friction', values: stepped(f.coulomb) }, { label: 'relaxed friction', values: stepped(f.convex) },
      { label: 'momentum', values: stepped(f.momentum) }] },
    { id: 'energy', title: 'Energy', unit: 'J', series: [
      { label: 'total', values: total }, { label: 'kinetic', values: f.kinetic },
      { label: 'potential', values: f.potential }] },
    { id: 'time', title: 'Time of a step', unit: quick ? 'µs' : 'ms', stacked: true, series: phases },
    { id: 'contacts', title: 'Contacts', unit: 'points', zero: true, series: [
      { label: 'contacts', values: stepped(f.contacts) }, { label: 'iterations', values: stepped(f.iterations) },
      ...asleep] },
    { id: 'penetration', title: 'Penetration', unit: 'mm', zero: true, series: [
      { label: 'deepest', values: millimetres(f.penetration) }, ...equalities] },
  ];
}

// Round tick positions that divide a range into about `count` intervals.
function ticks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw);
  const list = [];
  for (let x = Math.ceil(low / step) * step; x <= high + 1e-9 * step; x += step) list.push(Math.abs(x) < 1e-9 * step ? 0 : x);
  return list;
}

class Plot {
  constructor(recording, chart, player) {
    Object.assign(this, { recording, chart, player });
    this.figure = document.createElement('figure');
    this.figure.className = 'plot';
    this.figure.dataset.plot = chart.id;
    const caption = document.createElement('figcaption');
    const title = document.createElement('strong');
    title.textContent = chart.title;
    const unit = document.createElement('span');
    unit.className = 'unit';
    unit.textContent = `[${chart.unit}]`;
    const legend = document.createElement('ul');
    legend.className = 'legend';
    this.readings = chart.series.map((series, k) => {
      series.colour = PLOT_COLOURS[k % PLOT_COLOURS.length];
      const item = document.createElement('li');
      const swatch = document.createElement('i');
      swatch.style.background = series.colour;
      const value = document.createElement('b');
      item.append(swatch, series.label, ' ', value);
      legend.append(item);
      return value;
    });
    caption.append(title, ' ', unit);
    this.canvas = document.createElement('canvas');
    this.canvas.height = PLOT_HEIGHT;
    this.canvas.tabIndex = -1;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', `${chart.title} over time: ${chart.series.map((s) => s.label).join(', ')}`);
    this.figure.append(caption, this.canvas, legend);
    this.still = document.createElement('canvas');
    this.prepare();
    this.listen();
  }

  listen() {
    const timeAt = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const part = (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
      return this.recording.begin + clamp(part, 0, 1) * (this.recording.end - this.recording.begin);
    };
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.player.playing = false;
      this.player.seekFrame(this.recording.nearest(timeAt(event)));
    });
    this.canvas.addEventListener('pointermove', (event) => {
      this.hover = this.recording.nearest(timeAt(event));
      if (event.buttons) this.player.seekFrame(this.hover);
      this.cursor();
    });
    this.canvas.addEventListener('pointerleave', () => { this.hover = undefined; this.cursor(); });
  }

  // Sums of stacked series, and the range of what is drawn.
  prepare() {
    const { chart, recording } = this;
    let low = Infinity, high = -Infinity;
    const sums = new Float64Array(recording.count);
    this.tops = chart.series.map((series) => {
      if (!chart.stacked) return series.values;
      return series.values.map((x, k) => (sums[k] += x)); // NaN stays
    });
    const all = [];
    for (const values of this.tops) {
      for (const x of values) {
        if (!Number.isFinite(x) || (chart.log && x <= 0)) continue;
        low = Math.min(low, x);
        high = Math.max(high, x);
        if (chart.stacked && values === this.tops.at(-1)) all.push(x);
      }
    }
    if (!(low <= high)) [low, high] = chart.log ? [1e-8, 0.9] : [0, 1];
    if (chart.log) {
      high = 10 ** Math.ceil(Math.log10(high) + 1e-9);
      low = Math.max(10 ** Math.floor(Math.log10(low)), high * 1e-14);
    } else {
      if (chart.stacked || chart.zero) low = Math.min(low, 0);
      // A few slow steps must not flatten all others.
      if (all.length > 20) {
        all.sort((a, b) => a - b);
        high = Math.min(high, 1.6 * all[Math.floor(0.97 * (all.length - 1))]);
      }
      const room = 0.06 * (high - low) || Math.abs(high) * 1e-3 || 1;
      high += room;
      if (!chart.stacked && !chart.zero) low -= room;
    }
    Object.assign(this, { low, high });
  }

  y(value) {
    const { low, high, chart } = this, height = PLOT_HEIGHT - MARGIN.top - MARGIN.bottom;
    const part = chart.log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return MARGIN.top + height * (1 - clamp(part, -0.02, 1.02));
  }

  x(time) {
    const { begin, end } = this.recording, width = this.width - MARGIN.left - MARGIN.right;
    return MARGIN.left + (end > begin ? (width * (time - begin)) / (end - begin) : 0);
  }

  // Everything but the cursor.
  draw() {
    this.width = this.canvas.parentElement.clientWidth;
    if (!this.width) return;
    const ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.canvas, this.still]) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(PLOT_HEIGHT * ratio);
    }
    this.canvas.style.height = `${PLOT_HEIGHT}px`;
    const style = getComputedStyle(document.documentElement);
    const pen = this.still.getContext('2d');
    pen.scale(ratio, ratio);
    pen.font = '10px system-ui, sans-serif';
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    pen.lineWidth = 1;
    let marks;
    if (this.chart.log) {
      const decades = Math.round(Math.log10(this.high / this.low)), step = Math.max(1, Math.ceil(decades / 4));
      marks = [];
      for (let k = 0; k <= decades; k += step) marks.push(this.low * 10 ** k);
    } else {
      marks = ticks(this.low, this.high, 3);
    }
    for (const mark of marks) {
      const y = Math.round(this.y(mark)) + 0.5;
      pen.strokeStyle = style.getPropertyValue('--line');
      pen.beginPath();
      pen.moveTo(MARGIN.left, y);
      pen.lineTo(this.width - MARGIN.right, y);
      pen.stroke();
      pen.fillStyle = style.getPropertyValue('--faint');
      const label = this.chart.log ? `1e${Math.round(Math.log10(mark))}` : digits(mark, 3);
      pen.fillText(label, MARGIN.left - 6, y);
    }
    pen.save();
    pen.beginPath();
    pen.rect(MARGIN.left, MARGIN.top - 1, this.width - MARGIN.left - MARGIN.right, PLOT_HEIGHT - MARGIN.top - MARGIN.bottom + 2);
    pen.clip();
    for (let k = this.tops.length - 1; k >= 0; k--) this.trace(pen, k);
    pen.restore();
    this.cursor();
  }

  trace(pen, k) {
    const { recording, chart } = this, values = this.tops[k], n = recording.count;
    pen.strokeStyle = pen.fillStyle = chart.series[k].colour;
    pen.lineWidth = k === 0 ? 1.6 : 1.2;
    pen.lineJoin = 'round';
    pen.beginPath();
    let down = false, first, last;
    // With more frames than pixels the highest of each pixel counts.
    const per = Math.max(1, Math.floor(n / (2 * this.width)));
    for (let i = 0; i < n; i += per) {
      let value = values[i];
      for (let j = i + 1; j < Math.min(i + per, n); j++) if (values[j] > value) value = values[j];
      if (!Number.isFinite(value) || (chart.log && value <= 0)) { down = false; continue; }
      const x = this.x(recording.time[i]), y = this.y(value);
      first ??= x;
      last = x;
      if (down) pen.lineTo(x, y); else pen.moveTo(x, y);
      down = true;
    }
    if (chart.stacked && first !== undefined) {
      pen.lineTo(last, this.y(0));
      pen.lineTo(first, this.y(0));
      pen.closePath();
      pen.globalAlpha = 0.85;
      pen.fill();
      pen.globalAlpha = 1;
    } else {
      pen.stroke();
    }
  }

  cursor() {
    if (!this.width) return;
    const pen = this.canvas.getContext('2d'), ratio = window.devicePixelRatio || 1;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.still, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.documentElement);
    const line = (time, colour, width) => {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.beginPath();
      pen.moveTo(this.x(time), 2);
      pen.lineTo(this.x(time), PLOT_HEIGHT - 2);
      pen.stroke();
    };
    const { recording } = this;
    if (!recording.count) return;
    if (this.hover !== undefined) line(recording.time[this.hover], style.getPropertyValue('--faint'), 1);
    line(this.player.time, style.getPropertyValue('--accent'), 1.5);
    const frame = this.hover ?? this.player.frame;
    this.chart.series.forEach((series, k) => {
      this.readings[k].textContent = digits(series.values[frame], 3);
      const y = this.y(this.tops[k][frame]);
      const shown = Number.isFinite(y) && !(this.chart.log && this.tops[k][frame] <= 0);
      if (this.chart.stacked || !shown) return;
      pen.fillStyle = series.colour;
      pen.beginPath();
      pen.arc(this.x(recording.time[frame]), y, 2.6, 0, 7);
      pen.fill();
    });
  }
}

export class Plots {
  constructor(parent, recording, player) {
    this.plots = charts(recording).map((chart) => new Plot(recording, chart, player));
    parent.append(...this.plots.map((plot) => plot.figure));
    new ResizeObserver(() => this.draw()).observe(parent);
  }

  draw() { this.plots.forEach((plot) => plot.draw()); }

  cursor() { this.plots.forEach((plot) => plot.cursor()); }
}
