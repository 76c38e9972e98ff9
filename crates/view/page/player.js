// The clock of the page: a time that plays, pauses, steps and jumps.
import { clamp } from './maths.js';

export const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

export class Player {
  constructor(recording) {
    this.recording = recording;
    this.time = recording.begin;
    this.playing = false;
    this.speed = 1;
    this.loop = true;
    this.listeners = [];
  }

  onChange(listener) { this.listeners.push(listener); }

  changed() { this.listeners.forEach((listener) => listener()); }

  get frame() { return this.recording.nearest(this.time); }

  seek(time) {
    this.time = clamp(time, this.recording.begin, this.recording.end);
    this.changed();
  }

  seekFrame(frame) {
    const { recording } = this;
    if (recording.count) this.seek(recording.time[clamp(Math.round(frame), 0, recording.count - 1)]);
  }

  step(frames) {
    this.playing = false;
    this.seekFrame(this.frame + frames);
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.time >= this.recording.end) this.time = this.recording.begin;
    this.changed();
  }

  // Advances the clock by real time [s].
  advance(seconds) {
    if (!this.playing) return;
    const { begin, end } = this.recording;
    let next = this.time + seconds * this.speed;
    if (next > end) {
      if (this.loop && end > begin) next = begin + ((next - end) % (end - begin));
      else { next = end; this.playing = false; }
    }
    this.seek(next);
  }
}
