// GLSL shaders.

const HEAD = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
`;

// Bodies: instanced meshes. Quaternions are (w, x, y, z).
export const BODY_VERTEX = `${HEAD}
layout(location = 0) in vec3 a_position;
layout(location = 1) in vec3 a_normal;
layout(location = 2) in vec3 i_position;
layout(location = 3) in vec4 i_rotation;
layout(location = 4) in vec3 i_scale;
layout(location = 5) in vec4 i_colour;
layout(location = 6) in float i_id;
uniform mat4 u_matrix;
uniform float u_picked;
out vec3 v_position;
out vec3 v_normal;
out vec4 v_colour;
flat out float v_picked;
flat out float v_id;
vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.yzw, cross(q.yzw, v) + q.x * v); }
void main() {
  v_position = i_position + turn(i_rotation, a_position * i_scale);
  v_normal = turn(i_rotation, a_normal / i_scale);
  v_colour = i_colour;
  v_id = i_id;
  v_picked = abs(i_id - u_picked) < 0.5 ? 1.0 : 0.0;
  gl_Position = u_matrix * vec4(v_position, 1.0);
}`;

export const DEPTH_FRAGMENT = `${HEAD}
void main() {}`;

export const ID_FRAGMENT = `${HEAD}
flat in float v_id;
out vec4 colour;
void main() {
  int id = int(v_id + 0.5);
  colour = vec4(float(id & 255), float((id >> 8) & 255), float((id >> 16) & 255), 255.0) / 255.0;
}`;

// The outlined body, enlarged along its normals by a fraction of its distance; other bodies are discarded.
export const OUTLINE_VERTEX = BODY_VERTEX
  .replace('uniform float u_picked;', 'uniform float u_picked; uniform float u_grown; uniform vec3 u_eye;')
  .replace('gl_Position =', 'v_position += normalize(v_normal) * u_grown * distance(v_position, u_eye);\n  gl_Position = v_picked < 0.5 ? vec4(2.0, 2.0, 2.0, 1.0) :');

export const OUTLINE_FRAGMENT = `${HEAD}
uniform float u_linear;
out vec4 colour;
void main() { colour = vec4(u_linear > 0.5 ? vec3(1.0, 0.13, 0.0) : vec3(1.0, 0.4, 0.0), 1.0); }`;

// Light: a key light with a soft shadow, and a sky. While the picture is being refined each pass
// uses one direction of the sky with its own shadow map; the mean of many approximates ambient light.
const LIGHT = `
uniform mat4 u_key_matrix;
uniform mat4 u_dome_matrix;
uniform vec3 u_key;
uniform vec3 u_dome;
uniform sampler2DShadow u_key_map;
uniform sampler2DShadow u_dome_map;
uniform float u_refined;
uniform float u_dome_weight;
uniform float u_texel;
uniform float u_linear;
#define KEY 1.25
#define SKY 0.95
#define BOUNCE 0.42
float seen(sampler2DShadow map, mat4 matrix, vec3 position, vec3 normal, float spread) {
  vec4 p = matrix * vec4(position + normal * u_texel * (1.0 + spread), 1.0);
  vec3 uvz = p.xyz / p.w * 0.5 + 0.5;
  if (any(lessThan(uvz, vec3(0.0))) || any(greaterThan(uvz, vec3(1.0)))) return 1.0;
  float texel = 1.0 / float(textureSize(map, 0).x);
  if (spread < 0.5) return texture(map, uvz);
  float sum = 0.0;
  for (int i = -2; i <= 2; i++)
    for (int j = -2; j <= 2; j++)
      sum += texture(map, vec3(uvz.xy + vec2(i, j) * texel * spread, uvz.z));
  return sum / 25.0;
}
float irradiance(vec3 position, vec3 normal) {
  float facing = max(dot(normal, u_key), 0.0);
  float key = facing > 0.0 ? KEY * facing * seen(u_key_map, u_key_matrix, position, normal, u_refined > 0.5 ? 0.0 : 1.4) : 0.0;
  float sky;
  if (u_refined > 0.5) {
    float open = max(dot(normal, u_dome), 0.0);
    sky = open > 0.0 ? u_dome_weight * SKY * open * seen(u_dome_map, u_dome_matrix, position, normal, 0.0) : 0.0;
  } else {
    sky = SKY * (0.5 + 0.5 * normal.z);
  }
  return key + sky + BOUNCE * (0.5 - 0.5 * normal.z);
}
vec3 encoded(vec3 light) {
  if (u_linear > 0.5) return light;
  vec3 c = clamp(light, 0.0, 1.0);
  return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}
`;

export const BODY_FRAGMENT = `${HEAD}${LIGHT}
in vec3 v_position;
in vec3 v_normal;
in vec4 v_colour;
flat in float v_picked;
uniform vec3 u_eye;
uniform float u_alpha;
out vec4 colour;
void main() {
  vec3 view = normalize(u_eye - v_position);
  vec3 normal = normalize(v_normal);
  if (dot(normal, view) < 0.0 && !gl_FrontFacing) normal = -normal;
  float light = irradiance(v_position, normal);
  vec3 halfway = normalize(view + u_key);
  float gloss = pow(max(dot(normal, halfway), 0.0), 48.0) * 0.16 * step(0.0, dot(normal, u_key));
  float grazing = pow(1.0 - max(dot(normal, view), 0.0), 4.0);
  vec3 shade = v_colour.rgb * light * 0.57 + gloss + grazing * 0.05;
  vec3 mark = vec3(1.0, 0.42, 0.0);
  shade = mix(shade, mark * (0.35 + 0.5 * light), v_picked * (0.28 + 0.55 * pow(1.0 - max(dot(normal, view), 0.0), 2.0)));
  colour = vec4(encoded(shade), v_colour.a * mix(u_alpha, 1.0, v_picked * 0.6));
}`;

// Unbounded planes: a square that fades out, with grid lines.
export const GROUND_VERTEX = `${HEAD}
layout(location = 0) in vec2 a_position;
uniform mat4 u_matrix;
uniform vec3 u_origin;
uniform vec3 u_x;
uniform vec3 u_y;
uniform float u_reach;
out vec3 v_position;
out vec2 v_place;
out vec2 v_lines;
uniform vec2 u_shift;
void main() {
  v_place = a_position;
  v_position = u_origin + u_reach * (u_x * a_position.x + u_y * a_position.y);
  v_lines = u_shift + u_reach * a_position;
  gl_Position = u_matrix * vec4(v_position, 1.0);
}`;

export const GROUND_FRAGMENT = `${HEAD}${LIGHT}
in vec3 v_position;
in vec2 v_place;
in vec2 v_lines;
uniform vec3 u_normal;
uniform vec3 u_ground;
uniform vec3 u_eye;
uniform float u_grid;
uniform float u_cell;
uniform float u_shadow;
uniform float u_body;
out vec4 colour;
float lines(vec2 place, float width) {
  vec2 slope = fwidth(place);
  vec2 distance = abs(fract(place - 0.5) - 0.5) / max(slope, vec2(1e-6));
  float line = 1.0 - min(min(distance.x, distance.y) / width, 1.0);
  return line * (1.0 - smoothstep(0.15, 0.5, max(slope.x, slope.y)));
}
void main() {
  float open = KEY * max(dot(u_normal, u_key), 0.0) + SKY * (0.5 + 0.5 * u_normal.z) + BOUNCE * (0.5 - 0.5 * u_normal.z);
  float ratio = irradiance(v_position, u_normal) / max(open, 1e-3);
  float dim = mix(1.0, ratio, u_shadow);
  float minor = lines(v_lines / u_cell, 1.1) * 0.55, major = lines(v_lines / (u_cell * 5.0), 1.4);
  float fade = 1.0 - smoothstep(0.25, 1.0, length(v_place));
  float line = max(minor, major) * abs(u_grid) * fade;
  vec3 base = u_ground * mix(1.0, 0.86, u_body);
  vec3 shade = base * dim;
  shade = u_grid > 0.0 ? shade * (1.0 - line * 2.2) : shade + line * 0.12;
  float alpha = u_body > 0.5 ? 1.0 - smoothstep(0.55, 0.75, length(v_place)) : fade;
  // The ground is transparent from below.
  if (dot(u_eye - v_position, u_normal) < 0.0) alpha *= 0.25;
  colour = vec4(encoded(shade), alpha);
}`;

// Arrows and points, lit from the camera, never in shadow.
export const GLYPH_VERTEX = `${HEAD}
layout(location = 0) in vec4 a_position;
layout(location = 1) in vec3 a_normal;
layout(location = 2) in vec3 i_origin;
layout(location = 3) in vec3 i_along;
layout(location = 4) in float i_radius;
layout(location = 5) in vec3 i_colour;
uniform mat4 u_matrix;
out vec3 v_normal;
out vec3 v_colour;
void main() {
  float full = length(i_along);
  vec3 z = full > 0.0 ? i_along / full : vec3(0.0, 0.0, 1.0);
  vec3 x = normalize(abs(z.z) < 0.9 ? cross(vec3(0.0, 0.0, 1.0), z) : cross(vec3(0.0, 1.0, 0.0), z));
  vec3 y = cross(z, x);
  vec3 p;
  if (a_position.w < -0.5) {
    p = a_position.xyz * i_radius;
  } else {
    float head = min(full, 4.5 * i_radius);
    float along = a_position.w < 0.5 ? a_position.z * (full - head) : full - head + a_position.z * head;
    float thin = min(1.0, full / (4.5 * i_radius));
    p = x * a_position.x * i_radius * thin + y * a_position.y * i_radius * thin + z * along;
  }
  v_normal = x * a_normal.x + y * a_normal.y + z * a_normal.z;
  v_colour = i_colour;
  gl_Position = u_matrix * vec4(i_origin + p, 1.0);
}`;

export const GLYPH_FRAGMENT = `${HEAD}
in vec3 v_normal;
in vec3 v_colour;
uniform vec3 u_toward;
uniform float u_linear;
out vec4 colour;
void main() {
  float light = 0.62 + 0.38 * abs(dot(normalize(v_normal), u_toward));
  vec3 c = v_colour * light;
  colour = vec4(u_linear > 0.5 ? c : mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c)), 1.0);
}`;

// Polygons of contact patches, with a linear colour per vertex.
export const PATCH_VERTEX = `${HEAD}
layout(location = 0) in vec3 a_position;
layout(location = 1) in vec3 a_colour;
uniform mat4 u_matrix;
out vec3 v_colour;
void main() {
  v_colour = a_colour;
  gl_Position = u_matrix * vec4(a_position, 1.0);
}`;

export const PATCH_FRAGMENT = `${HEAD}
in vec3 v_colour;
uniform float u_linear;
out vec4 colour;
void main() {
  vec3 c = v_colour;
  colour = vec4(u_linear > 0.5 ? c : mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c)), 1.0);
}`;

// The final picture: the mean of the accumulated passes, encoded as sRGB.
export const SCREEN_VERTEX = `${HEAD}
out vec2 v_place;
void main() {
  vec2 corner = vec2(float((gl_VertexID << 1) & 2), float(gl_VertexID & 2));
  v_place = corner;
  gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}`;

export const SCREEN_FRAGMENT = `${HEAD}
in vec2 v_place;
uniform sampler2D u_picture;
uniform float u_weight;
uniform float u_linear;
out vec4 colour;
void main() {
  vec3 c = texture(u_picture, v_place).rgb * u_weight;
  if (u_linear < 0.5) {
    c = clamp(c, 0.0, 1.0);
    c = mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
  }
  colour = vec4(c, 1.0);
}`;
