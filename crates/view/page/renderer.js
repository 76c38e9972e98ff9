// Draws bodies, soft surfaces, ground, arrows and points with WebGL2.
//
// Meshes are drawn by instancing. A key light casts a shadow. When nothing moves, the picture is refined:
// passes with different light directions and subpixel offsets are accumulated, for soft shadows, ambient
// occlusion and smooth edges.
import { add, subtract, scaled, unit, cross, dot, norm, compose, turn, multiply, lookAt, orthographic } from './maths.js';
import { THEMES, toLinear, isUnchosen, bodyColour } from './palette.js';
import { BODY_VERTEX, BODY_FRAGMENT, DEPTH_FRAGMENT, ID_FRAGMENT, OUTLINE_VERTEX, OUTLINE_FRAGMENT, GROUND_VERTEX, GROUND_FRAGMENT, GLYPH_VERTEX, GLYPH_FRAGMENT, PATCH_VERTEX, PATCH_FRAGMENT, SCREEN_VERTEX, SCREEN_FRAGMENT } from './shaders.js';
import { arrowMesh, pointMesh, glyphsOf, GLYPH_SIZE } from './glyphs.js';
import { patchTriangles, PATCH_VERTEX_SIZE } from './patches.js';

const SHADOW_SIZE = 2048;
const DOME_SIZE = 1024;
const PASSES = 160;
const KEY_DIRECTION = unit([-0.55, -0.6, 1.05]);
const WALL_ALPHA = 0.1;
// Longest arrow, relative to the scene.
const LONGEST = 0.4;
const KEY_SPREAD = 0.075;

// Low-discrepancy points in the unit square (additive recurrence of Roberts).
const evenly = (k) => [(0.5 + k * 0.7548776662466927) % 1, (0.5 + k * 0.5698402909980532) % 1];

export class Renderer {
  // `like` is a renderer on the same canvas for another recording of the same scene, with which GPU
  // resources are shared.
  constructor(canvas, recording, like = null) {
    const gl = canvas.getContext('webgl2', { antialias: true, alpha: false, powerPreference: 'high-performance' });
    if (!gl) throw new Error('WebGL2 is not available');
    Object.assign(this, { canvas, gl, recording });
    this.theme = THEMES.light;
    this.options = { mode: 'seen', colours: 'own', grid: true, shadows: true, seeThrough: false, patches: true, points: false, forces: false, frames: false, forceScale: 1, onlyPicked: false, refine: true };
    this.picked = -1;
    this.newtonsPerMetre = 1;
    this.passes = 0;
    this.canSum = Boolean(gl.getExtension('EXT_color_buffer_float') && gl.getExtension('EXT_float_blend'));
    this.poses = new Float32Array(7 * recording.bodies.length);
    this.programs = like?.programs ?? {
      body: this.program(BODY_VERTEX, BODY_FRAGMENT),
      depth: this.program(BODY_VERTEX, DEPTH_FRAGMENT),
      id: this.program(BODY_VERTEX, ID_FRAGMENT),
      outline: this.program(OUTLINE_VERTEX, OUTLINE_FRAGMENT),
      ground: this.program(GROUND_VERTEX, GROUND_FRAGMENT),
      glyph: this.program(GLYPH_VERTEX, GLYPH_FRAGMENT),
      patch: this.program(PATCH_VERTEX, PATCH_FRAGMENT),
      screen: this.program(SCREEN_VERTEX, SCREEN_FRAGMENT),
    };
    this.meshes = recording.meshes.map((mesh) => this.upload(mesh));
    this.bounds = like?.bounds ?? this.findBounds();
    this.options.clearWalls = like?.options.clearWalls ?? this.isContained();
    this.buildBatches();
    this.buildSofts();
    this.buildGrounds();
    this.arrows = this.glyphBatch(arrowMesh());
    this.points = this.glyphBatch(pointMesh());
    this.patches = this.patchBatch();
    this.key = like?.key ?? this.shadowMap(SHADOW_SIZE);
    this.dome = like?.dome ?? this.shadowMap(DOME_SIZE);
    this.nothing = gl.createVertexArray();
  }

  program(vertex, fragment) {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    const places = new Map();
    const u = (name) => {
      if (!places.has(name)) places.set(name, gl.getUniformLocation(program, name));
      return places.get(name);
    };
    return { program, u };
  }

  buffer(target, data, usage) {
    const { gl } = this;
    const buffer = gl.createBuffer();
    gl.bindBuffer(target, buffer);
    gl.bufferData(target, data, usage);
    return buffer;
  }

  upload(mesh) {
    const { gl } = this;
    let radius = 0;
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (let k = 0; k < mesh.positions.length; k += 3) {
      const p = mesh.positions.subarray(k, k + 3);
      radius = Math.max(radius, norm(p));
      for (let i = 0; i < 3; i++) { low[i] = Math.min(low[i], p[i]); high[i] = Math.max(high[i], p[i]); }
    }
    return {
      positions: this.buffer(gl.ARRAY_BUFFER, mesh.positions, gl.STATIC_DRAW),
      normals: this.buffer(gl.ARRAY_BUFFER, mesh.normals, gl.STATIC_DRAW),
      triangles: this.buffer(gl.ELEMENT_ARRAY_BUFFER, mesh.triangles, gl.STATIC_DRAW),
      count: mesh.triangles.length,
      radius, low, high,
    };
  }

  attribute(buffer, place, size, stride = 0, offset = 0, divisor = 0) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, gl.FLOAT, false, stride, offset);
    gl.vertexAttribDivisor(place, divisor);
  }

  // Selects the shapes that are drawn: visual shapes where a body has them, or collision shapes.
  isDrawn(shape) {
    if (this.options.mode === 'all') return true;
    if (this.options.mode === 'touch') return shape.collides;
    return !shape.collides || shape.body === 0 || !this.dressed.has(shape.body);
  }

  colourOf(shape) {
    const own = shape.colour;
    const byBody = this.options.colours === 'body' || (isUnchosen(own) && shape.body !== 0);
    const colour = byBody && shape.body !== 0 ? bodyColour(this.recording.slot[shape.body] < 0 ? shape.body : this.recording.slot[shape.body]) : own;
    const wall = this.options.clearWalls && this.isWall(shape);
    return [...colour.slice(0, 3).map(toLinear), wall ? Math.min(own[3], WALL_ALPHA) : own[3]];
  }

  // Smallest and largest coordinates of a shape at a pose in the world.
  boxOf(shape, world) {
    const mesh = this.meshes[shape.mesh], q = world.subarray(3, 7);
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (let c = 0; c < 8; c++) {
      const corner = turn(q, [0, 1, 2].map((i) => ((c >> i) & 1 ? mesh.high[i] : mesh.low[i]) * shape.scale[i]));
      for (let i = 0; i < 3; i++) {
        low[i] = Math.min(low[i], world[i] + corner[i]);
        high[i] = Math.max(high[i], world[i] + corner[i]);
      }
    }
    return [low, high];
  }

  // Static shapes that may hide moving ones.
  isWall(shape) { return shape.mesh !== null && this.recording.slot[shape.body] < 0; }

  // Whether most moving bodies end inside static shapes, such as objects in a bin.
  isContained() {
    const { recording } = this, world = new Float32Array(7);
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    let walls = 0;
    for (const shape of recording.shapes.filter((s) => this.isWall(s))) {
      compose(recording.rest, 7 * shape.body, shape.pose, 0, world, 0);
      walls += this.meshes[shape.mesh].count > 36 ? 4 : 1;
      const [least, most] = this.boxOf(shape, world);
      for (let i = 0; i < 3; i++) { low[i] = Math.min(low[i], least[i]); high[i] = Math.max(high[i], most[i]); }
    }
    recording.poses(recording.end, this.poses);
    const inside = recording.moving.filter((b) => low.every((l, i) => l < this.poses[7 * b + i] && this.poses[7 * b + i] < high[i]));
    return walls >= 4 && inside.length > 0.6 * recording.moving.length;
  }

  buildBatches() {
    const { gl, recording } = this;
    (this.batches ?? []).forEach((batch) => {
      gl.deleteVertexArray(batch.array);
      gl.deleteBuffer(batch.poseBuffer);
      gl.deleteBuffer(batch.lookBuffer);
    });
    // Collision shapes are hidden only on bodies that also have visual shapes.
    this.dressed = new Set(recording.shapes.filter((s) => !s.collides).map((s) => s.body));
    const groups = new Map();
    for (const shape of recording.shapes) {
      if (shape.mesh === null || !this.isDrawn(shape)) continue;
      const wall = this.options.clearWalls && this.isWall(shape);
      const clear = wall || shape.colour[3] < 0.999;
      const key = `${shape.mesh} ${clear} ${wall}`;
      if (!groups.has(key)) groups.set(key, { mesh: this.meshes[shape.mesh], clear, wall, shapes: [] });
      groups.get(key).shapes.push(shape);
    }
    this.batches = [...groups.values()].map((group) => {
      const n = group.shapes.length;
      const look = new Float32Array(8 * n), local = new Float32Array(7 * n);
      group.shapes.forEach((shape, k) => {
        look.set([...shape.scale, ...this.colourOf(shape), shape.body + 1], 8 * k);
        local.set(shape.pose, 7 * k);
      });
      const array = gl.createVertexArray();
      gl.bindVertexArray(array);
      this.attribute(group.mesh.positions, 0, 3);
      this.attribute(group.mesh.normals, 1, 3);
      const poses = new Float32Array(7 * n);
      const poseBuffer = this.buffer(gl.ARRAY_BUFFER, poses, gl.DYNAMIC_DRAW);
      this.attribute(poseBuffer, 2, 3, 28, 0, 1);
      this.attribute(poseBuffer, 3, 4, 28, 12, 1);
      const lookBuffer = this.buffer(gl.ARRAY_BUFFER, look, gl.STATIC_DRAW);
      this.attribute(lookBuffer, 4, 3, 32, 0, 1);
      this.attribute(lookBuffer, 5, 4, 32, 12, 1);
      this.attribute(lookBuffer, 6, 1, 32, 28, 1);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, group.mesh.triangles);
      gl.bindVertexArray(null);
      return { ...group, array, poses, poseBuffer, lookBuffer, local, n, bodies: group.shapes.map((s) => s.body) };
    });
  }

  buildSofts() {
    const { gl, recording } = this;
    let first = 0;
    this.softPositions = new Float32Array(3 * recording.softVertices);
    this.softs = recording.softs.map((soft, k) => {
      const array = gl.createVertexArray();
      gl.bindVertexArray(array);
      const bytes = 12 * soft.corners.length;
      const positions = this.buffer(gl.ARRAY_BUFFER, bytes, gl.DYNAMIC_DRAW);
      this.attribute(positions, 0, 3);
      const normals = this.buffer(gl.ARRAY_BUFFER, bytes, gl.DYNAMIC_DRAW);
      this.attribute(normals, 1, 3);
      this.buffer(gl.ELEMENT_ARRAY_BUFFER, soft.triangles, gl.STATIC_DRAW);
      gl.bindVertexArray(null);
      const entry = {
        array, positions, normals, first, soft, count: soft.triangles.length,
        placeData: new Float32Array(3 * soft.corners.length),
        normalData: new Float32Array(3 * soft.corners.length), id: recording.bodies.length + k + 1,
        colour: [...(isUnchosen(soft.colour) ? bodyColour(k) : soft.colour.slice(0, 3)).map(toLinear), soft.colour[3]],
      };
      first += soft.vertices;
      return entry;
    });
  }

  // Half spaces of the recording, or a grid below everything if there is none.
  buildGrounds() {
    const { gl, recording, bounds } = this;
    const square = new Float32Array([-1, -1, 1, -1, 1, 1, -1, 1]);
    this.square = gl.createVertexArray();
    gl.bindVertexArray(this.square);
    this.attribute(this.buffer(gl.ARRAY_BUFFER, square, gl.STATIC_DRAW), 0, 2);
    gl.bindVertexArray(null);
    const world = new Float32Array(7);
    this.grounds = recording.shapes.filter((s) => s.mesh === null).map((shape) => {
      compose(recording.rest, 7 * shape.body, shape.pose, 0, world, 0);
      const q = world.subarray(3, 7), origin = [...world.subarray(0, 3)];
      return { origin, x: turn(q, [1, 0, 0]), y: turn(q, [0, 1, 0]), normal: turn(q, [0, 0, 1]), real: true };
    });
    if (!this.grounds.length) {
      const z = Math.min(...[bounds.low[2] - 0.02 * bounds.radius]);
      this.grounds.push({ origin: [bounds.centre[0], bounds.centre[1], z], x: [1, 0, 0], y: [0, 1, 0], normal: [0, 0, 1], real: false });
    }
    const cell = 10 ** Math.round(Math.log10(bounds.radius / 4));
    for (const ground of this.grounds) {
      // Centred under the scene; the grid lines keep their positions.
      const offset = subtract(bounds.centre, ground.origin);
      const shift = [dot(offset, ground.x), dot(offset, ground.y)];
      ground.middle = add(ground.origin, add(scaled(ground.x, shift[0]), scaled(ground.y, shift[1])));
      ground.shift = shift;
      ground.level = ground.normal[2] > 0.9999;
      ground.reach = bounds.radius * (ground.level ? 9 : 4);
      ground.cell = cell;
    }
  }

  glyphBatch(mesh) {
    const { gl } = this;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    this.attribute(this.buffer(gl.ARRAY_BUFFER, mesh.positions, gl.STATIC_DRAW), 0, 4);
    this.attribute(this.buffer(gl.ARRAY_BUFFER, mesh.normals, gl.STATIC_DRAW), 1, 3);
    const instances = this.buffer(gl.ARRAY_BUFFER, 4, gl.DYNAMIC_DRAW);
    const stride = 4 * GLYPH_SIZE;
    this.attribute(instances, 2, 3, stride, 0, 1);
    this.attribute(instances, 3, 3, stride, 12, 1);
    this.attribute(instances, 4, 1, stride, 24, 1);
    this.attribute(instances, 5, 3, stride, 28, 1);
    this.buffer(gl.ELEMENT_ARRAY_BUFFER, mesh.triangles, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return { array, instances, count: mesh.triangles.length, n: 0 };
  }

  patchBatch() {
    const { gl } = this;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    const vertices = this.buffer(gl.ARRAY_BUFFER, 4, gl.DYNAMIC_DRAW);
    const stride = 4 * PATCH_VERTEX_SIZE;
    this.attribute(vertices, 0, 3, stride, 0);
    this.attribute(vertices, 1, 3, stride, 12);
    gl.bindVertexArray(null);
    return { array, vertices, n: 0 };
  }

  shadowMap(size) {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, size, size);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return { texture, frame, size, matrix: new Float32Array(16), direction: KEY_DIRECTION };
  }

  // Bounding sphere of the run, without outliers that fly away.
  findBounds(from = this.recording.begin, to = this.recording.end) {
    const { recording } = this;
    const places = [[], [], []], boxes = [], world = new Float32Array(7);
    const frames = from < to ? Math.min(24, Math.max(1, recording.count)) : 1;
    // Static shapes count only if nothing moves, or if the moving bodies do not end inside them.
    const drawn = recording.shapes.filter((s) => s.mesh !== null);
    const movers = drawn.filter((s) => !this.isWall(s));
    const shapes = movers.length && (this.isContained() || this.isFar(movers, drawn)) ? movers : drawn;
    const stride = Math.max(1, Math.floor(shapes.length / 1500));
    for (let f = 0; f < frames; f++) {
      const time = from + ((to - from) * f) / Math.max(1, frames - 1);
      recording.poses(time, this.poses);
      for (let s = 0; s < shapes.length; s += stride) {
        const shape = shapes[s];
        compose(this.poses, 7 * shape.body, shape.pose, 0, world, 0);
        const [low, high] = this.boxOf(shape, world);
        boxes.push([low, high]);
      }
      if (recording.softVertices) {
        const box = [[0, 0, 0], [0, 0, 0]];
        const all = recording.soft, n = 3 * recording.softVertices, at = recording.frameAt(time) * n;
        for (let k = 0; k < 3; k++) {
          let low = Infinity, high = -Infinity;
          for (let i = at + k; i < at + n; i += 3) { low = Math.min(low, all[i]); high = Math.max(high, all[i]); }
          box[0][k] = low;
          box[1][k] = high;
        }
        boxes.push(box);
      }
    }
    for (const box of boxes) for (const end of box) for (let k = 0; k < 3; k++) places[k].push(end[k]);
    if (!places[0].length) return { centre: [0, 0, 0.5], radius: 1, low: [-1, -1, 0], high: [1, 1, 1] };
    const ends = places.map((list) => {
      // Outliers that fly far away do not count.
      const sorted = Float64Array.from(list).sort(), last = sorted.length - 1, out = Math.floor(0.02 * last);
      const [a, b] = [sorted[out], sorted[last - out]];
      const end = (most, trimmed) => (Math.abs(most - trimmed) > b - a ? trimmed : most);
      return [end(sorted[0], a), end(sorted[last], b)];
    });
    const low = ends.map((e) => e[0]), high = ends.map((e) => e[1]);
    const radius = Math.max(0.5 * norm(subtract(high, low)) * 0.92, 1e-3);
    return { centre: scaled(add(low, high), 0.5), radius, low, high, corners: this.cornersOf(boxes, low, high) };
  }

  // Corners of boxes, clamped to the box around most of them.
  cornersOf(boxes, low, high) {
    const corners = new Float32Array(24 * boxes.length);
    boxes.forEach((box, b) => {
      for (let c = 0; c < 8; c++) {
        for (let i = 0; i < 3; i++) corners[24 * b + 3 * c + i] = Math.min(high[i], Math.max(low[i], box[(c >> i) & 1][i]));
      }
    });
    return corners;
  }

  // Whether static shapes are so large that the moving ones would be tiny beside them.
  isFar(movers, drawn) {
    const size = (list) => list.reduce((most, s) => Math.max(most, this.meshes[s.mesh].radius * Math.max(...s.scale)), 0);
    const still = drawn.filter((s) => this.isWall(s));
    return still.length > 0 && size(still) > 25 * size(movers);
  }

  // Updates all poses to a time.
  update(time) {
    const { gl, recording } = this;
    recording.poses(time, this.poses);
    for (const batch of this.batches) {
      for (let k = 0; k < batch.n; k++) compose(this.poses, 7 * batch.bodies[k], batch.local, 7 * k, batch.poses, 7 * k);
      gl.bindBuffer(gl.ARRAY_BUFFER, batch.poseBuffer);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, batch.poses);
    }
    if (recording.softVertices && recording.count) {
      recording.softAt(time, this.softPositions);
      for (const soft of this.softs) this.updateSoft(soft);
    }
    this.time = time;
    this.updateGlyphs();
    this.passes = 0;
  }

  updateSoft(entry) {
    const { gl } = this;
    const { corners, triangles: t } = entry.soft, all = this.softPositions;
    const p = entry.placeData, n = entry.normalData.fill(0);
    for (let k = 0; k < corners.length; k++) {
      const from = 3 * (entry.first + corners[k]);
      p[3 * k] = all[from];
      p[3 * k + 1] = all[from + 1];
      p[3 * k + 2] = all[from + 2];
    }
    for (let k = 0; k < t.length; k += 3) {
      const a = 3 * t[k], b = 3 * t[k + 1], c = 3 * t[k + 2];
      const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
      const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
      const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
      for (const i of [a, b, c]) { n[i] += x; n[i + 1] += y; n[i + 2] += z; }
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, entry.positions);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, p);
    gl.bindBuffer(gl.ARRAY_BUFFER, entry.normals);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, n);
  }

  // Length of an arrow per newton [m/N].
  get metresPerNewton() {
    return (this.options.forceScale * 0.22 * this.bounds.radius) / this.newtonsPerMetre;
  }

  updateGlyphs() {
    const { gl, options, recording, bounds } = this;
    const frame = recording.nearest(this.time ?? 0);
    const glyphs = glyphsOf(recording, frame, this.poses, {
      points: options.points, forces: options.forces, frames: options.frames,
      only: options.onlyPicked ? this.picked : -1,
      radius: 0.0065 * bounds.radius, axisLength: 0.12 * bounds.radius,
      metresPerNewton: this.metresPerNewton, longest: LONGEST * bounds.radius, ink: this.theme.ink,
    });
    this.cut = glyphs.cut;
    for (const name of ['arrows', 'points']) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this[name].instances);
      gl.bufferData(gl.ARRAY_BUFFER, glyphs[name], gl.DYNAMIC_DRAW);
      this[name].n = glyphs[name].length / GLYPH_SIZE;
    }
    const patches = options.patches && recording.count
      ? patchTriangles(recording, frame, options.onlyPicked ? this.picked : -1) : new Float32Array(0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.patches.vertices);
    gl.bufferData(gl.ARRAY_BUFFER, patches, gl.DYNAMIC_DRAW);
    this.patches.n = patches.length / PATCH_VERTEX_SIZE;
    this.passes = 0;
  }

  // Changes what is drawn and how.
  set(changes) {
    Object.assign(this.options, changes);
    if ('mode' in changes || 'colours' in changes || 'clearWalls' in changes) this.buildBatches();
    this.update(this.time ?? this.recording.begin);
  }

  setTheme(name) {
    this.theme = THEMES[name];
    this.updateGlyphs();
  }

  pick(body) {
    this.picked = body;
    this.updateGlyphs();
  }

  drawBodies(filter) {
    const { gl } = this;
    for (const batch of this.batches) {
      if (!filter(batch.clear, batch.wall)) continue;
      gl.bindVertexArray(batch.array);
      gl.drawElementsInstanced(gl.TRIANGLES, batch.mesh.count, gl.UNSIGNED_INT, 0, batch.n);
    }
    for (const entry of this.softs) {
      if (!filter(entry.colour[3] < 0.999, false)) continue;
      gl.bindVertexArray(entry.array);
      gl.vertexAttrib3f(2, 0, 0, 0);
      gl.vertexAttrib4f(3, 1, 0, 0, 0);
      gl.vertexAttrib3f(4, 1, 1, 1);
      gl.vertexAttrib4f(5, ...entry.colour);
      gl.vertexAttrib1f(6, entry.id);
      gl.drawElements(gl.TRIANGLES, entry.count, gl.UNSIGNED_INT, 0);
    }
    gl.bindVertexArray(null);
  }

  drawShadow(map, direction) {
    const { gl, bounds } = this;
    const radius = bounds.radius * 1.35, far = bounds.radius * 8;
    const eye = add(bounds.centre, scaled(direction, far / 2));
    map.direction = direction;
    map.matrix = multiply(orthographic(radius, 0, far), lookAt(eye, bounds.centre, [0, 0, 1]));
    map.texel = (2 * radius) / map.size;
    gl.bindFramebuffer(gl.FRAMEBUFFER, map.frame);
    gl.viewport(0, 0, map.size, map.size);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    if (!this.options.shadows) return;
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.5, 3);
    gl.useProgram(this.programs.depth.program);
    gl.uniformMatrix4fv(this.programs.depth.u('u_matrix'), false, map.matrix);
    this.drawBodies((clear, wall) => !wall);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  light({ u }, eye, refined, linear) {
    const { gl } = this;
    gl.uniform3fv(u('u_eye'), eye);
    gl.uniform3fv(u('u_key'), this.key.direction);
    gl.uniform3fv(u('u_dome'), this.dome.direction);
    gl.uniformMatrix4fv(u('u_key_matrix'), false, this.key.matrix);
    gl.uniformMatrix4fv(u('u_dome_matrix'), false, this.dome.matrix);
    gl.uniform1i(u('u_key_map'), 0);
    gl.uniform1i(u('u_dome_map'), 1);
    gl.uniform1f(u('u_refined'), refined ? 1 : 0);
    gl.uniform1f(u('u_dome_weight'), this.domeWeight ?? 1);
    gl.uniform1f(u('u_linear'), linear ? 1 : 0);
    gl.uniform1f(u('u_texel'), refined ? Math.max(this.key.texel, this.dome.texel) * 0.7 : this.key.texel);
  }

  // Everything into the bound framebuffer.
  drawScene(camera, width, height, { refined = false, linear = false, jitter = [0, 0] } = {}) {
    const { gl, theme } = this;
    const matrix = camera.matrix(width / height, jitter), eye = camera.eye;
    gl.viewport(0, 0, width, height);
    const ground = theme.ground.map(toLinear);
    gl.clearColor(...(linear ? ground : theme.ground), 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.key.texture);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.dome.texture);

    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    this.drawGrounds(matrix, eye, ground, refined, linear);

    if (this.picked >= 0) this.drawOutline(matrix, eye, linear);
    const { body } = this.programs;
    gl.useProgram(body.program);
    this.light(body, eye, refined, linear);
    gl.uniformMatrix4fv(body.u('u_matrix'), false, matrix);
    gl.uniform1f(body.u('u_picked'), this.picked + 1);
    const clear = this.options.seeThrough;
    gl.uniform1f(body.u('u_alpha'), clear ? 0.28 : 1);
    if (clear) {
      // Depth first, so that each pixel shows only the nearest surface.
      gl.colorMask(false, false, false, false);
      this.drawBodies(() => true);
      gl.colorMask(true, true, true, true);
      gl.depthFunc(gl.LEQUAL);
      this.drawBodies(() => true);
      gl.depthFunc(gl.LESS);
    } else {
      this.drawBodies((isClear) => !isClear);
      gl.depthMask(false);
      gl.enable(gl.CULL_FACE);
      this.drawBodies((isClear) => isClear);
      gl.disable(gl.CULL_FACE);
      gl.depthMask(true);
    }
    gl.disable(gl.BLEND);
    this.drawGlyphs(matrix, camera, linear);
  }

  // Outline of the picked body: back faces of a slightly larger copy.
  drawOutline(matrix, eye, linear) {
    const { gl } = this;
    const { outline } = this.programs;
    gl.useProgram(outline.program);
    gl.uniformMatrix4fv(outline.u('u_matrix'), false, matrix);
    gl.uniform1f(outline.u('u_picked'), this.picked + 1);
    gl.uniform1f(outline.u('u_linear'), linear ? 1 : 0);
    gl.uniform1f(outline.u('u_grown'), 0.0028);
    gl.uniform3fv(outline.u('u_eye'), eye);
    gl.enable(gl.CULL_FACE);
    gl.cullFace(gl.FRONT);
    this.drawBodies(() => true);
    gl.cullFace(gl.BACK);
    gl.disable(gl.CULL_FACE);
  }

  drawGrounds(matrix, eye, colour, refined, linear) {
    const { gl, theme, options } = this;
    const { ground } = this.programs;
    gl.useProgram(ground.program);
    this.light(ground, eye, refined, linear);
    gl.uniformMatrix4fv(ground.u('u_matrix'), false, matrix);
    gl.bindVertexArray(this.square);
    for (const g of this.grounds) {
      if (!g.real && !options.grid) continue;
      gl.uniform3fv(ground.u('u_origin'), g.middle);
      gl.uniform3fv(ground.u('u_x'), g.x);
      gl.uniform3fv(ground.u('u_y'), g.y);
      gl.uniform3fv(ground.u('u_normal'), g.normal);
      gl.uniform2fv(ground.u('u_shift'), g.shift);
      gl.uniform3fv(ground.u('u_ground'), colour);
      gl.uniform1f(ground.u('u_reach'), g.reach);
      gl.uniform1f(ground.u('u_cell'), g.cell);
      gl.uniform1f(ground.u('u_grid'), options.grid ? theme.grid : 0);
      gl.uniform1f(ground.u('u_shadow'), theme.shadow * (g.real ? 1 : 0.5));
      gl.uniform1f(ground.u('u_body'), g.level ? 0 : 1);
      // Depth offset, so that surfaces lying in the plane do not flicker.
      gl.enable(gl.POLYGON_OFFSET_FILL);
      gl.polygonOffset(1, 2);
      gl.depthMask(g.real);
      gl.drawArrays(gl.TRIANGLE_FAN, 0, 4);
      gl.depthMask(true);
      gl.disable(gl.POLYGON_OFFSET_FILL);
    }
    gl.bindVertexArray(null);
  }

  // Drawn over everything: contacts lie between bodies and would be hidden.
  drawGlyphs(matrix, camera, linear) {
    const { gl } = this;
    if (this.patches.n) {
      const { patch } = this.programs;
      gl.clear(gl.DEPTH_BUFFER_BIT);
      gl.useProgram(patch.program);
      gl.uniformMatrix4fv(patch.u('u_matrix'), false, matrix);
      gl.uniform1f(patch.u('u_linear'), linear ? 1 : 0);
      gl.bindVertexArray(this.patches.array);
      gl.drawArrays(gl.TRIANGLES, 0, this.patches.n);
      gl.bindVertexArray(null);
    }
    if (!this.arrows.n && !this.points.n) return;
    const { glyph } = this.programs;
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(glyph.program);
    gl.uniformMatrix4fv(glyph.u('u_matrix'), false, matrix);
    gl.uniform3fv(glyph.u('u_toward'), camera.backward);
    gl.uniform1f(glyph.u('u_linear'), linear ? 1 : 0);
    for (const batch of [this.arrows, this.points]) {
      if (!batch.n) continue;
      gl.bindVertexArray(batch.array);
      gl.drawElementsInstanced(gl.TRIANGLES, batch.count, gl.UNSIGNED_SHORT, 0, batch.n);
    }
    gl.bindVertexArray(null);
  }

  resize() {
    const { canvas } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width === width && canvas.height === height) return;
    canvas.width = width;
    canvas.height = height;
    this.passes = 0;
  }

  // The quick picture.
  draw(camera) {
    const { gl, canvas } = this;
    this.passes = 0;
    this.drawShadow(this.key, KEY_DIRECTION);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.drawScene(camera, canvas.width, canvas.height);
  }

  get canRefine() { return this.canSum && this.options.refine && this.passes < PASSES; }

  // One more pass of the slow picture.
  refine(camera) {
    const { gl, canvas } = this;
    this.prepareSum(canvas.width, canvas.height);
    const k = this.passes;
    const [a, b] = evenly(k), [c, d] = evenly(k + 0.5);
    // Importance sampling of the sky, with more directions from above; uniform sampling of the lamp's
    // disc.
    const z = Math.max(0.03, a ** (2 / 3)), ring = Math.sqrt(1 - z * z), turnBy = 2 * Math.PI * b;
    this.domeWeight = 2 / (1.5 * Math.sqrt(z));
    this.drawShadow(this.dome, [ring * Math.cos(turnBy), ring * Math.sin(turnBy), z]);
    const x = unit(cross(KEY_DIRECTION, [0, 0, 1])), y = cross(KEY_DIRECTION, x);
    const r = KEY_SPREAD * Math.sqrt(c), angle = 2 * Math.PI * d;
    const lamp = add(KEY_DIRECTION, add(scaled(x, r * Math.cos(angle)), scaled(y, r * Math.sin(angle))));
    this.drawShadow(this.key, unit(lamp));
    const jitter = k === 0 ? [0, 0] : [(2 * (d - 0.5)) / canvas.width, (2 * (c - 0.5)) / canvas.height];
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.sum.passFrame);
    this.drawScene(camera, canvas.width, canvas.height, { refined: true, linear: true, jitter });

    const { screen } = this.programs;
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(screen.program);
    gl.activeTexture(gl.TEXTURE0);
    gl.uniform1i(screen.u('u_picture'), 0);
    gl.bindVertexArray(this.nothing);
    const show = (picture, frame, weight, linear) => {
      gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.bindTexture(gl.TEXTURE_2D, picture);
      gl.uniform1f(screen.u('u_weight'), weight);
      gl.uniform1f(screen.u('u_linear'), linear ? 1 : 0);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    };
    if (k > 0) {
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE);
    }
    show(this.sum.pass, this.sum.sumFrame, 1, true);
    gl.disable(gl.BLEND);
    this.passes = k + 1;
    // The first few passes are noisy; the quick picture is shown until then.
    if (this.passes >= 12 || this.showEarly) show(this.sum.total, null, 1 / this.passes, false);
    gl.bindVertexArray(null);
    gl.enable(gl.DEPTH_TEST);
  }

  prepareSum(width, height) {
    const { gl } = this;
    if (this.sum && this.sum.width === width && this.sum.height === height) return;
    if (this.sum) {
      gl.deleteTexture(this.sum.pass);
      gl.deleteTexture(this.sum.total);
      gl.deleteRenderbuffer(this.sum.depth);
      gl.deleteFramebuffer(this.sum.passFrame);
      gl.deleteFramebuffer(this.sum.sumFrame);
    }
    const texture = (format) => {
      const made = gl.createTexture();
      gl.bindTexture(gl.TEXTURE_2D, made);
      gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
      return made;
    };
    gl.activeTexture(gl.TEXTURE0);
    const pass = texture(gl.RGBA16F), total = texture(gl.RGBA32F), depth = gl.createRenderbuffer();
    gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, width, height);
    const frame = (target, withDepth) => {
      const made = gl.createFramebuffer();
      gl.bindFramebuffer(gl.FRAMEBUFFER, made);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target, 0);
      if (withDepth) gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
      return made;
    };
    this.sum = { width, height, pass, total, depth, passFrame: frame(pass, true), sumFrame: frame(total, false) };
  }

  // The body or soft surface under a point of the picture [page pixels]; −1 for none.
  under(camera, px, py) {
    const { gl, canvas } = this;
    const w = canvas.width, h = canvas.height;
    const x = Math.floor((px / canvas.clientWidth) * w), y = Math.floor((1 - py / canvas.clientHeight) * h);
    const colour = gl.createRenderbuffer(), depth = gl.createRenderbuffer(), frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.bindRenderbuffer(gl.RENDERBUFFER, colour);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.RGBA8, w, h);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, colour);
    gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, w, h);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
    gl.viewport(0, 0, w, h);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(x, y, 1, 1);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.useProgram(this.programs.id.program);
    gl.uniformMatrix4fv(this.programs.id.u('u_matrix'), false, camera.matrix(w / h));
    this.drawBodies((clear, wall) => !wall);
    const pixel = new Uint8Array(4);
    gl.readPixels(x, y, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.deleteRenderbuffer(colour);
    gl.deleteRenderbuffer(depth);
    gl.deleteFramebuffer(frame);
    return pixel[0] + 256 * pixel[1] + 65536 * pixel[2] - 1;
  }
}
