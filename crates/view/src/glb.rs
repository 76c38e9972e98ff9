//! A recording as glTF 2.0 in one binary file, for Blender and every viewer of that format.
//!
//! One node per body, below a root that turns z up into glTF's y up; meshes once each, materials
//! by colour, one animation with a translation and a rotation channel per body that moves. Times
//! begin at zero. Planes are squares. Vertices of soft surfaces are those of the first frame, as
//! `extras` of their nodes note: glTF has no streams of vertices. The format cannot hold contacts and
//! figures either. [glTF 2.0, Khronos Group 2021].

use std::collections::HashMap;
use std::path::Path;

use nalgebra::{Isometry3, Quaternion, Vector3};
use serde_json::{Map, Value, json};
use stiction_sim::record::Recording;

use crate::bounds::{Bounds, is_contained};
use crate::draw_list::{DrawList, PlaneInstance, soft_colour};
use crate::mesh::{Mesh, creased};
use crate::{ViewError, exporter};

const MAGIC: u32 = u32::from_le_bytes(*b"glTF");
const VERSION: u32 = 2;
/// Components: bytes of two and four without sign, floats of four.
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;
/// Purpose of a view of the buffer.
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;
/// The half width of a plane's square, in units of the scene's radius.
const REACH: f64 = 4.0;
/// Opacity of walls around moving bodies.
const WALL: f32 = 0.15;
const PLANE_COLOUR: [f32; 4] = [0.9, 0.91, 0.93, 1.0];
const ROUGHNESS: f64 = 0.6;
/// Rotation from z up to y up, quaternion x, y, z, w.
const UP: [f64; 4] = [-std::f64::consts::FRAC_1_SQRT_2, 0.0, 0.0, std::f64::consts::FRAC_1_SQRT_2];

/// Writes a recording to a file.
pub fn write(recording: &Recording, path: &Path) -> Result<(), ViewError> {
    recording.check()?;
    let bytes = binary(recording).map_err(|source| exporter::unwritten(path, source))?;
    exporter::put(path, &bytes)
}

/// The bytes of the file for a consistent recording.
pub fn binary(recording: &Recording) -> std::io::Result<Vec<u8>> {
    let mut document = Document::default();
    let root = document.node(json!({"name": title(recording), "rotation": UP}));
    let mut children = bodies(recording, &mut document);
    children.extend(softs(recording, &mut document));
    if !children.is_empty() {
        document.nodes[root]["children"] = children.into();
    }
    document.finish(recording, root)
}

fn title(recording: &Recording) -> &str {
    if recording.title.is_empty() { "recording" } else { &recording.title }
}

/// The nodes of the bodies, with their meshes below them and their motion.
fn bodies(recording: &Recording, document: &mut Document) -> Vec<Value> {
    let draw_list = DrawList::new(recording, recording.shapes.len());
    let contained = is_contained(recording, &draw_list);
    let mut below: Vec<Vec<Value>> = vec![Vec::new(); recording.bodies.len()];
    let geometry: Vec<Value> =
        draw_list.meshes.iter().map(|mesh| document.geometry(mesh)).collect();
    for instance in &draw_list.instances {
        // glTF allows no mesh without triangles.
        if draw_list.meshes[instance.mesh].triangles.is_empty() {
            continue;
        }
        let mut colour = instance.colour;
        if contained && instance.still {
            colour[3] = colour[3].min(WALL);
        }
        let mesh = document.mesh(instance.mesh, &geometry[instance.mesh], colour);
        let mut node = placed(&instance.pose, json!({"mesh": mesh}));
        if instance.scale != Vector3::repeat(1.0) {
            node["scale"] = instance.scale.as_slice().into();
        }
        let name = &recording.shapes[instance.shape].name;
        if !name.is_empty() {
            node["name"] = name.as_str().into();
        }
        below[instance.body].push(document.node(node).into());
    }
    if !draw_list.planes.is_empty() {
        let (first, last) = ends(recording);
        let radius = Bounds::of(recording, &draw_list, first, last).radius();
        let square = document.geometry(&square((REACH * radius) as f32));
        for PlaneInstance { body, pose, .. } in &draw_list.planes {
            let mesh = document.mesh(usize::MAX, &square, PLANE_COLOUR);
            let node = placed(pose, json!({"name": "plane", "mesh": mesh}));
            below[*body].push(document.node(node).into());
        }
    }
    let mut nodes = Vec::new();
    let mut node_of = HashMap::new();
    for (body, below) in below.into_iter().enumerate() {
        if below.is_empty() && recording.moving.binary_search(&body).is_err() {
            continue;
        }
        let pose = &recording.rest[body];
        let mut node = placed(pose, json!({"name": recording.bodies[body]}));
        if !below.is_empty() {
            node["children"] = below.into();
        }
        let node = document.node(node);
        node_of.insert(body, node);
        nodes.push(node.into());
    }
    animate(recording, &node_of, document);
    nodes
}

fn ends(recording: &Recording) -> (f64, f64) {
    let time = &recording.frames.time;
    (time.first().copied().unwrap_or(0.0), time.last().copied().unwrap_or(0.0))
}

/// Adds a pose to a node; values that are not finite are left out.
fn placed(pose: &Isometry3<f64>, mut node: Value) -> Value {
    let (p, q) = (&pose.translation.vector, pose.rotation.quaternion());
    if *p != Vector3::zeros() && p.iter().all(|x| x.is_finite()) {
        node["translation"] = p.as_slice().into();
    }
    if q.imag() != Vector3::zeros() && q.coords.iter().all(|x| x.is_finite()) {
        node["rotation"] = q.normalize().coords.as_slice().into();
    }
    node
}

/// A square in the plane z = 0 that faces up.
fn square(half: f32) -> Mesh {
    Mesh {
        positions: vec![
            [-half, -half, 0.0],
            [half, -half, 0.0],
            [half, half, 0.0],
            [-half, half, 0.0],
        ],
        normals: vec![[0.0, 0.0, 1.0]; 4],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

/// The animation channels of all moving bodies.
fn animate(recording: &Recording, node_of: &HashMap<usize, usize>, document: &mut Document) {
    let (frames, moving) = (&recording.frames, recording.moving.len());
    // Key times must increase strictly as 32-bit floats.
    let (mut keys, mut times) = (Vec::new(), Vec::new());
    for (frame, time) in frames.time.iter().enumerate() {
        let time = (time - frames.time[0]) as f32;
        if time.is_finite() && times.last().is_none_or(|last| time > *last) {
            keys.push(frame);
            times.push(time);
        }
    }
    if keys.len() < 2 {
        return;
    }
    let mut input = None;
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for (slot, body) in recording.moving.iter().enumerate() {
        let rest = &recording.rest[*body];
        let positions = held(&keys, rest.translation.vector.into(), |frame| {
            frames.position[frame * moving + slot]
        });
        let rest = rest.rotation.quaternion();
        let mut rotations = held(&keys, [rest.w, rest.i, rest.j, rest.k], |frame| {
            frames.rotation[frame * moving + slot]
        });
        make_continuous(&mut rotations);
        let positions: Vec<[f32; 3]> = positions.iter().map(|p| p.map(|x| x as f32)).collect();
        let rotations: Vec<[f32; 4]> = rotations
            .iter()
            .map(|&[w, x, y, z]| Quaternion::new(w, x, y, z).normalize())
            .map(|q| [q.i as f32, q.j as f32, q.k as f32, q.w as f32])
            .collect();
        let Some(&node) = node_of.get(body) else { continue };
        let input = *input.get_or_insert_with(|| {
            let range = (Value::from(&times[..1]), Value::from(&times[times.len() - 1..]));
            document.floats("SCALAR", 1, &times, None, Some(range))
        });
        for (path, kind, width, values) in [
            ("translation", "VEC3", 3, positions.as_flattened()),
            ("rotation", "VEC4", 4, rotations.as_flattened()),
        ] {
            let output = document.floats(kind, width, values, None, None);
            channels
                .push(json!({"sampler": samplers.len(), "target": {"node": node, "path": path}}));
            samplers.push(json!({"input": input, "output": output, "interpolation": "LINEAR"}));
        }
    }
    if !channels.is_empty() {
        document.animation =
            Some(json!({"name": title(recording), "samplers": samplers, "channels": channels}));
    }
}

/// Values at the keys; one that is not finite is replaced by the one before.
fn held<const N: usize>(
    keys: &[usize],
    mut last: [f64; N],
    at: impl Fn(usize) -> [f64; N],
) -> Vec<[f64; N]> {
    let values = keys.iter().map(|&frame| {
        let value = at(frame);
        if value.iter().all(|x| x.is_finite()) {
            last = value;
        }
        last
    });
    values.collect()
}

/// Chooses, of the two quaternions of an orientation, the one nearer to the last, so that viewers
/// interpolate along the shorter arc.
fn make_continuous(rotations: &mut [[f64; 4]]) {
    for k in 1..rotations.len() {
        let along: f64 = rotations[k - 1].iter().zip(&rotations[k]).map(|(a, b)| a * b).sum();
        if along < 0.0 {
            rotations[k] = rotations[k].map(|x| -x);
        }
    }
}

/// Soft surfaces as they are in the first frame.
fn softs(recording: &Recording, document: &mut Document) -> Vec<Value> {
    let mut nodes = Vec::new();
    let mut first = 0;
    for (k, soft) in recording.softs.iter().enumerate() {
        let vertices = recording.frames.soft.get(first..first + soft.vertices);
        first += soft.vertices;
        let vertices: Vec<_> =
            vertices.unwrap_or_default().iter().map(|p| Vector3::from(p.map(f64::from))).collect();
        let mesh = creased(&vertices, &soft.triangles);
        if mesh.triangles.is_empty() || mesh.positions.iter().flatten().any(|x| !x.is_finite()) {
            continue;
        }
        let geometry = document.geometry(&mesh);
        let mesh = document.mesh(usize::MAX - 1 - k, &geometry, soft_colour(soft.colour, k));
        let name = if soft.name.is_empty() { format!("soft {k}") } else { soft.name.clone() };
        let extras = json!({"soft": "vertices of the first frame; the motion is not in this file"});
        nodes.push(document.node(json!({"name": name, "mesh": mesh, "extras": extras})).into());
    }
    nodes
}

/// The file under construction.
#[derive(Default)]
struct Document {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    materials: Vec<Value>,
    material_of: HashMap<[u32; 4], usize>,
    meshes: Vec<Value>,
    mesh_of: HashMap<(usize, usize), usize>,
    nodes: Vec<Value>,
    animation: Option<Value>,
}

impl Document {
    fn node(&mut self, node: Value) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Appends bytes; every number starts at a multiple of its size.
    fn view(&mut self, bytes: impl Iterator<Item = u8>, target: Option<u32>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let offset = self.bytes.len();
        self.bytes.extend(bytes);
        let length = self.bytes.len() - offset;
        let mut view = json!({"buffer": 0, "byteOffset": offset, "byteLength": length});
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.views.push(view);
        self.views.len() - 1
    }

    fn floats(
        &mut self,
        kind: &str,
        width: usize,
        values: &[f32],
        target: Option<u32>,
        range: Option<(Value, Value)>,
    ) -> usize {
        let view = self.view(values.iter().flat_map(|x| x.to_le_bytes()), target);
        let count = values.len() / width;
        let mut accessor =
            json!({"bufferView": view, "componentType": F32, "count": count, "type": kind});
        if let Some((low, high)) = range {
            accessor["min"] = low;
            accessor["max"] = high;
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// The numbers of a mesh, as a primitive without its material.
    fn geometry(&mut self, mesh: &Mesh) -> Value {
        if mesh.triangles.is_empty() {
            return Value::Null;
        }
        let end = |pick: fn(f32, f32) -> f32| {
            let all = mesh.positions.iter().copied();
            let ends = all.reduce(|a, b| std::array::from_fn(|k| pick(a[k], b[k])));
            Value::from(ends.unwrap_or_default().as_slice())
        };
        let range = Some((end(f32::min), end(f32::max)));
        let position = self.floats("VEC3", 3, mesh.positions.as_flattened(), Some(VERTICES), range);
        let normal = self.floats("VEC3", 3, mesh.normals.as_flattened(), Some(VERTICES), None);
        let corners = mesh.triangles.as_flattened();
        // The largest index of a type is the primitive-restart value in some viewers.
        let short = mesh.positions.len() < usize::from(u16::MAX);
        let view = if short {
            self.view(corners.iter().flat_map(|&c| (c as u16).to_le_bytes()), Some(INDICES))
        } else {
            self.view(corners.iter().flat_map(|c| c.to_le_bytes()), Some(INDICES))
        };
        let component = if short { U16 } else { U32 };
        self.accessors.push(json!({
            "bufferView": view, "componentType": component, "count": corners.len(), "type": "SCALAR",
        }));
        let indices = self.accessors.len() - 1;
        json!({"attributes": {"POSITION": position, "NORMAL": normal}, "indices": indices})
    }

    /// A mesh in a colour; equal pairs share one entry.
    fn mesh(&mut self, key: usize, geometry: &Value, colour: [f32; 4]) -> usize {
        let material = self.material(colour);
        *self.mesh_of.entry((key, material)).or_insert_with(|| {
            let mut primitive = geometry.clone();
            primitive["material"] = material.into();
            self.meshes.push(json!({"primitives": [primitive]}));
            self.meshes.len() - 1
        })
    }

    fn material(&mut self, colour: [f32; 4]) -> usize {
        *self.material_of.entry(colour.map(f32::to_bits)).or_insert_with(|| {
            let mut material = json!({
                "doubleSided": true,
                "pbrMetallicRoughness": {
                    "baseColorFactor": colour, "metallicFactor": 0.0, "roughnessFactor": ROUGHNESS,
                },
            });
            if colour[3] < 1.0 {
                material["alphaMode"] = "BLEND".into();
            }
            self.materials.push(material);
            self.materials.len() - 1
        })
    }

    /// The bytes of the file: the JSON chunk and the binary chunk.
    fn finish(mut self, recording: &Recording, root: usize) -> std::io::Result<Vec<u8>> {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut json = Map::new();
        let generator = concat!("Stiction ", env!("CARGO_PKG_VERSION"));
        json.insert("asset".into(), json!({"version": "2.0", "generator": generator}));
        json.insert("scene".into(), 0.into());
        let (begin, _) = ends(recording);
        let extras = json!({
            "title": recording.title, "solver": recording.solver,
            "time_step": recording.time_step, "begin": begin,
        });
        json.insert("scenes".into(), json!([{"nodes": [root], "extras": extras}]));
        for (key, list) in [
            ("nodes", self.nodes),
            ("meshes", self.meshes),
            ("materials", self.materials),
            ("accessors", self.accessors),
            ("bufferViews", self.views),
            ("animations", self.animation.into_iter().collect()),
        ] {
            // The format allows no empty list.
            if !list.is_empty() {
                json.insert(key.into(), list.into());
            }
        }
        if !self.bytes.is_empty() {
            json.insert("buffers".into(), json!([{"byteLength": self.bytes.len()}]));
        }
        let mut text = serde_json::to_vec(&json)?;
        text.resize(text.len().next_multiple_of(4), b' ');
        let chunks = [(*b"JSON", text), (*b"BIN\0", self.bytes)];
        let chunks = chunks.into_iter().filter(|(_, bytes)| !bytes.is_empty());
        let mut file = vec![0; 12];
        for (kind, bytes) in chunks {
            let length = u32::try_from(bytes.len()).map_err(std::io::Error::other)?;
            file.extend(length.to_le_bytes());
            file.extend(kind);
            file.extend(bytes);
        }
        let length = u32::try_from(file.len()).map_err(std::io::Error::other)?;
        for (word, at) in [(MAGIC, 0), (VERSION, 4), (length, 8)] {
            file[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        Ok(file)
    }
}
