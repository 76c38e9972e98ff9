//! COLLADA: the triangles, polygons and lists of polygons of the visual scene, in metres.
//!
//! Nodes place their geometry by `matrix`, `translate`, `rotate` and `scale` in the order of the
//! file, and may instance other nodes. Polygons become fans about their first corner. The axes are
//! those of the file: robot descriptions are drawn by viewers that pass over `up_axis`, and their
//! links are posed accordingly. Skins, splines, holes in polygons and materials are not read.

use std::collections::HashMap;
use std::path::Path;

use nalgebra::{Matrix4, Rotation3, Unit, Vector3, Vector4};

use super::{Triangles, excerpt, wrong};
use crate::error::SceneError;
use crate::xml::Element;

/// Nodes that are visited, instances of instances included.
const MOST_NODES: usize = 100_000;

/// Nodes inside nodes.
const DEEPEST: usize = 64;

/// How often the geometry of a file may be instanced on average: bounds memory by the file's length.
const MOST_COPIES: usize = 16;

/// Reads the text of a file.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Triangles, SceneError> {
    let text = String::from_utf8_lossy(bytes);
    let root = Element::parse(text.trim_start_matches('\u{feff}'), path)?;
    if root.tag != "COLLADA" {
        return Err(root.error("expected the root element COLLADA"));
    }
    let mut ids = HashMap::new();
    collect_ids(&root, &mut ids);
    let mut reader = Reader {
        ids,
        geometries: HashMap::new(),
        mesh: Triangles::default(),
        visits: 0,
        most: MOST_COPIES * bytes.len(),
    };
    let metre = root.child("asset").and_then(|asset| asset.child("unit"));
    let metre = metre.map_or(Ok(None), |unit| unit.number("meter"))?.unwrap_or(1.0);
    let unit = Matrix4::new_scaling(metre);
    match reader.scene(&root)? {
        Some(scene) => {
            for node in scene.all("node") {
                reader.node(node, &unit, 0)?;
            }
        }
        None => {
            let libraries = root.all("library_geometries").flat_map(|library| &library.children);
            for geometry in libraries.filter(|child| child.tag == "geometry") {
                reader.instance(geometry, &unit)?;
            }
        }
    }
    if reader.mesh.triangles.is_empty() {
        return Err(wrong(path, "found no triangles in its scene; expected some"));
    }
    Ok(reader.mesh)
}

fn collect_ids<'a>(element: &'a Element, ids: &mut HashMap<&'a str, &'a Element>) {
    if let Some(id) = element.peek("id") {
        ids.entry(id).or_insert(element);
    }
    element.children.iter().for_each(|child| collect_ids(child, ids));
}

struct Reader<'a> {
    ids: HashMap<&'a str, &'a Element>,
    /// Geometries in their own frames, by place in memory: each is read once.
    geometries: HashMap<*const Element, Triangles>,
    mesh: Triangles,
    visits: usize,
    /// Vertices and triangles, at most.
    most: usize,
}

impl<'a> Reader<'a> {
    /// The element that an attribute refers to, written `#id`.
    fn follow(&self, element: &Element, attribute: &str) -> Result<&'a Element, SceneError> {
        let url = element.require(attribute)?;
        let found = url.strip_prefix('#').and_then(|id| self.ids.get(id));
        found.copied().ok_or_else(|| element.wrong(attribute, "# and the id of an element here"))
    }

    /// The visual scene, if there is one.
    fn scene(&self, root: &'a Element) -> Result<Option<&'a Element>, SceneError> {
        if let Some(link) = root.child("scene").and_then(|s| s.child("instance_visual_scene")) {
            return Ok(Some(self.follow(link, "url")?));
        }
        Ok(root.child("library_visual_scenes").and_then(|library| library.child("visual_scene")))
    }

    fn node(
        &mut self,
        node: &'a Element,
        X: &Matrix4<f64>,
        depth: usize,
    ) -> Result<(), SceneError> {
        self.visits += 1;
        if depth > DEEPEST || self.visits > MOST_NODES {
            let what = format_args!(
                "nodes {depth} deep, {} visited; expected at most {DEEPEST} and {MOST_NODES}",
                self.visits
            );
            return Err(node.error(what));
        }
        let mut X = *X;
        for child in &node.children {
            match child.tag.as_str() {
                "matrix" => X *= Matrix4::from_row_slice(&text_array::<16>(child)?),
                "translate" => X *= Matrix4::new_translation(&text_array::<3>(child)?.into()),
                "scale" => X *= Matrix4::new_nonuniform_scaling(&text_array::<3>(child)?.into()),
                "rotate" => {
                    let [x, y, z, degrees] = text_array::<4>(child)?;
                    if let Some(axis) = Unit::try_new(Vector3::new(x, y, z), 0.0) {
                        X *= Rotation3::from_axis_angle(&axis, degrees.to_radians())
                            .to_homogeneous();
                    }
                }
                "skew" => return Err(child.error("cannot be read; expected other transforms")),
                "instance_geometry" => {
                    let geometry = self.follow(child, "url")?;
                    self.instance(geometry, &X)?;
                }
                "instance_node" => {
                    let other = self.follow(child, "url")?;
                    self.node(other, &X, depth + 1)?;
                }
                "node" => self.node(child, &X, depth + 1)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds a geometry, moved by X.
    fn instance(&mut self, element: &'a Element, X: &Matrix4<f64>) -> Result<(), SceneError> {
        let key: *const Element = element;
        if !self.geometries.contains_key(&key) {
            let geometry = self.geometry(element)?;
            self.geometries.insert(key, geometry);
        }
        let Some(geometry) = self.geometries.get(&key) else { return Ok(()) };
        let mesh = &mut self.mesh;
        let size = mesh.vertices.len().max(mesh.triangles.len());
        if size + geometry.vertices.len().max(geometry.triangles.len()) > self.most {
            let what = format_args!(
                "instances make more than {} triangles; expected fewer from a file of this length",
                self.most
            );
            return Err(element.error(what));
        }
        let first = mesh.vertices.len() as u32;
        for vertex in &geometry.vertices {
            let moved = (X * Vector4::new(vertex.x, vertex.y, vertex.z, 1.0)).xyz();
            if !moved.iter().all(|x| x.is_finite()) {
                return Err(element.error("a vertex is not finite in the scene"));
            }
            mesh.vertices.push(moved);
        }
        // A reflection inverts triangles; reversing the order of corners restores them.
        let mirrored = X.fixed_view::<3, 3>(0, 0).determinant() < 0.0;
        mesh.triangles.extend(geometry.triangles.iter().map(|&[a, b, c]| {
            let [b, c] = if mirrored { [c, b] } else { [b, c] };
            [first + a, first + b, first + c]
        }));
        Ok(())
    }

    /// The triangles of a geometry.
    fn geometry(&self, geometry: &'a Element) -> Result<Triangles, SceneError> {
        let mut all = Triangles::default();
        let Some(mesh) = geometry.child("mesh") else { return Ok(all) };
        let mut firsts: HashMap<*const Element, (u32, u32)> = HashMap::new();
        for set in &mesh.children {
            if !matches!(set.tag.as_str(), "triangles" | "polylist" | "polygons") {
                continue;
            }
            let Some((source, offset, stride)) = self.positions(set)? else { continue };
            let key: *const Element = source;
            let (first, count) = match firsts.get(&key) {
                Some(known) => *known,
                None => {
                    let first = all.vertices.len() as u32;
                    self.source(source, &mut all.vertices)?;
                    let known = (first, all.vertices.len() as u32 - first);
                    firsts.insert(key, known);
                    known
                }
            };
            polygons(set, offset, stride, |set, corners| {
                if let Some(found) = corners.iter().find(|corner| **corner >= count) {
                    let what = format_args!("corner names vertex {found}; expected one of {count}");
                    return Err(set.error(what));
                }
                for k in 1..corners.len().saturating_sub(1) {
                    all.triangles.push([0, k, k + 1].map(|k| first + corners[k]));
                }
                Ok(())
            })?;
        }
        Ok(all)
    }

    /// The source of the positions of a set of polygons, the place of their indices, and the number
    /// of indices per corner.
    fn positions(&self, set: &Element) -> Result<Option<(&'a Element, usize, usize)>, SceneError> {
        let (mut found, mut stride) = (None, 1);
        for input in set.all("input") {
            let offset = input.integer("offset")?.unwrap_or(0);
            if !(0..=64).contains(&offset) {
                return Err(input.wrong("offset", "a number from 0 to 64"));
            }
            let offset = offset as usize;
            stride = stride.max(offset + 1);
            if input.get("semantic") == Some("VERTEX") {
                let vertices = self.follow(input, "source")?;
                let mut inputs = vertices.all("input");
                if let Some(position) = inputs.find(|i| i.get("semantic") == Some("POSITION")) {
                    found = Some((self.follow(position, "source")?, offset));
                }
            }
        }
        Ok(found.map(|(source, offset)| (source, offset, stride)))
    }

    /// The vectors of a source.
    fn source(&self, source: &Element, out: &mut Vec<Vector3<f64>>) -> Result<(), SceneError> {
        let Some(array) = source.child("float_array") else {
            return Err(source.error("no float_array; expected one"));
        };
        let numbers = text_numbers(array)?;
        let accessor = source.child("technique_common").and_then(|t| t.child("accessor"));
        let get = |name: &str, default: i64| -> Result<i64, SceneError> {
            Ok(match accessor {
                Some(accessor) => accessor.integer(name)?.unwrap_or(default),
                None => default,
            })
        };
        let (offset, stride) = (get("offset", 0)?, get("stride", 3)?);
        let count = get("count", numbers.len() as i64 / stride.max(1))?;
        // The last vector ends where the numbers do, at most.
        let end = i128::from(offset) + i128::from(stride) * i128::from(count - 1) + 3;
        let fits = offset >= 0 && stride >= 3 && count >= 0 && end <= numbers.len() as i128;
        if !fits && count != 0 {
            let what = format_args!(
                "{count} vectors {stride} apart from {offset} on; expected them within {} numbers",
                numbers.len()
            );
            return Err(source.error(what));
        }
        let (offset, stride) = (offset as usize, stride as usize);
        out.extend((0..count as usize).map(|k| {
            let at = offset + k * stride;
            Vector3::new(numbers[at], numbers[at + 1], numbers[at + 2])
        }));
        Ok(())
    }
}

/// Calls `polygon` with the corners of each polygon of a set.
fn polygons(
    set: &Element,
    offset: usize,
    stride: usize,
    mut polygon: impl FnMut(&Element, &[u32]) -> Result<(), SceneError>,
) -> Result<(), SceneError> {
    let mut lengths = Vec::new();
    if set.tag == "polylist" {
        for word in set.child("vcount").map_or("", |v| &v.text).split_ascii_whitespace() {
            lengths.push(word.parse::<usize>().map_err(|_| no_number(set, word))?);
        }
    }
    let mut corners = Vec::new();
    for p in set.all("p") {
        corners.clear();
        for (k, word) in p.text.split_ascii_whitespace().enumerate() {
            let index = word.parse::<u32>().map_err(|_| no_number(p, word))?;
            if k % stride == offset {
                corners.push(index);
            }
        }
        match set.tag.as_str() {
            "polygons" => polygon(p, &corners)?,
            "triangles" => {
                for triangle in corners.chunks_exact(3) {
                    polygon(p, triangle)?;
                }
            }
            _ => {
                let mut rest = &corners[..];
                for &length in &lengths {
                    let Some((one, others)) = rest.split_at_checked(length) else {
                        return Err(set.error("vcount lists more corners than p has"));
                    };
                    polygon(p, one)?;
                    rest = others;
                }
            }
        }
    }
    Ok(())
}

fn no_number(element: &Element, word: &str) -> SceneError {
    let what = format_args!("found \"{}\"; expected whole numbers from 0 on", excerpt(word));
    element.error(what)
}

/// The text of an element as finite numbers.
fn text_numbers(element: &Element) -> Result<Vec<f64>, SceneError> {
    let number = |word: &str| {
        word.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| {
            element.error(format_args!("found \"{}\"; expected finite numbers", excerpt(word)))
        })
    };
    element.text.split_ascii_whitespace().map(number).collect()
}

/// The text of an element as exactly N finite numbers.
fn text_array<const N: usize>(element: &Element) -> Result<[f64; N], SceneError> {
    let numbers = text_numbers(element)?;
    let found = numbers.len();
    <[f64; N]>::try_from(numbers)
        .map_err(|_| element.error(format_args!("{found} numbers; expected {N}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEOMETRY: &str = "<library_geometries><geometry id='g'><mesh>\
        <source id='s'><float_array id='f' count='12'>0 0 0 1 0 0 1 1 0 0 1 0</float_array>\
        <technique_common><accessor count='4' stride='3'/></technique_common></source>\
        <vertices id='v'><input semantic='POSITION' source='#s'/></vertices>SET\
        </mesh></geometry></library_geometries>";

    const TRIANGLES: &str = "<triangles count='2'><input semantic='VERTEX' source='#v' offset='0'/>\
        <input semantic='NORMAL' source='#n' offset='1'/><p>0 9 1 9 2 9 0 9 2 9 3 9</p></triangles>";

    fn file(set: &str, nodes: &str) -> String {
        format!(
            "<?xml version='1.0'?><COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema'>\
             <asset><unit meter='0.1'/></asset>{}\
             <library_visual_scenes><visual_scene id='scene'>{nodes}</visual_scene>\
             </library_visual_scenes><scene><instance_visual_scene url='#scene'/></scene></COLLADA>",
            GEOMETRY.replace("SET", set)
        )
    }

    fn read(set: &str, nodes: &str) -> Result<Triangles, SceneError> {
        parse(file(set, nodes).as_bytes(), Path::new("a.dae"))
    }

    const HERE: &str = "<instance_geometry url='#g'/>";

    #[test]
    fn triangles_lists_and_polygons_tell_the_same_square() {
        let nodes = format!("<node>{HERE}</node>");
        let square = read(TRIANGLES, &nodes).unwrap();
        assert_eq!(square.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert!((square.vertices[2] - Vector3::new(0.1, 0.1, 0.0)).amax() < 1e-16);
        let input = "<input semantic='VERTEX' source='#v' offset='0'/>";
        let list =
            format!("<polylist count='1'>{input}<vcount>4</vcount><p>0 1 2 3</p></polylist>");
        let polygon = format!("<polygons count='1'>{input}<p>0 1 2 3</p></polygons>");
        for set in [list, polygon] {
            assert_eq!(read(&set, &nodes).unwrap(), square, "{set}");
        }
    }

    #[test]
    fn nodes_place_their_geometry_in_the_order_of_their_transforms() {
        let nodes = format!(
            "<node><translate>1 0 0</translate><rotate>0 0 1 90</rotate><scale>2 2 2</scale>\
             <node><matrix>1 0 0 3  0 1 0 0  0 0 -1 0  0 0 0 1</matrix>{HERE}</node></node>"
        );
        let mesh = read(TRIANGLES, &nodes).unwrap();
        // (1, 0, 0) → (4, 0, 0) → (8, 0, 0) → (0, 8, 0) → (1, 8, 0), in units of 0.1 m.
        assert!((mesh.vertices[1] - Vector3::new(0.1, 0.8, 0.0)).amax() < 1e-15);
        // Mirrored: corners are turned round.
        assert_eq!(mesh.triangles[0], [0, 2, 1]);
    }

    #[test]
    fn nodes_that_multiply_without_end_are_refused() {
        let itself = format!("<node id='a'>{HERE}<instance_node url='#a'/></node>");
        assert!(read(TRIANGLES, &itself).unwrap_err().to_string().contains("deep"));
        let mut doubling = format!("<node id='n0'>{HERE}</node>");
        for k in 1..40 {
            let url = format!("<instance_node url='#n{}'/>", k - 1);
            doubling += &format!("<node id='n{k}'>{url}{url}</node>");
        }
        assert!(read(TRIANGLES, &doubling).is_err());
    }

    #[test]
    fn indices_and_counts_that_point_nowhere_are_refused() {
        let nodes = format!("<node>{HERE}</node>");
        for (from, to) in [
            ("2 9 3 9<", "2 9 4 9<"),
            ("2 9 3 9<", "2 9 x 9<"),
            ("#v", "#w"),
            ("offset='1'", "offset='-1'"),
            ("offset='1'", "offset='9999999999'"),
        ] {
            assert!(read(&TRIANGLES.replace(from, to), &nodes).is_err(), "{to}");
        }
        let whole = file(TRIANGLES, &nodes);
        for (from, to) in [
            ("stride='3'", "stride='4'"),
            ("stride='3'", "stride='0'"),
            ("<accessor count='4'", "<accessor count='4000000000000'"),
            ("<accessor count='4'", "<accessor count='-4'"),
            ("0 1 0</float", "0 inf 0</float"),
            ("meter='0.1'", "meter='1e400'"),
        ] {
            let text = whole.replace(from, to);
            assert!(parse(text.as_bytes(), Path::new("a.dae")).is_err(), "{to}");
        }
        assert!(parse(b"<html/>", Path::new("a.dae")).is_err());
    }
}
