//! Gmsh files: nodes and elements, versions 2 and 4.1, text or binary.
//!
//! Nodes have tags, not necessarily in order; elements name them. Points, lines, triangles and quadrangles bound
//! what was meshed and are skipped; of the others only tetrahedra of four nodes are known.
//! Groups, names and data are skipped too.

use std::collections::HashMap;
use std::path::Path;

use nalgebra::Vector3;
use stiction_geom::TetMesh;

use super::tetrahedra::{Cursor, NumberEncoding, NumberType, TetFileContent};
use crate::error::SceneError;

/// Type of an element that is a tetrahedron of four nodes.
const TETRAHEDRON: i64 = 4;

/// First bytes of files of this format.
pub const HEAD: &[u8] = b"$MeshFormat";

/// Reads the bytes of a file.
pub fn parse(bytes: &[u8], path: &Path) -> Result<TetMesh, SceneError> {
    let mut reader = Reader {
        cursor: Cursor::new(bytes, path),
        written: NumberEncoding::Text,
        is_version_2: false,
        numbers: HashMap::new(),
        gathered: TetFileContent::default(),
    };
    let mut begun = false;
    while let Some(section) = reader.cursor.try_word() {
        match (section, begun) {
            ("$MeshFormat", _) => {
                reader.format()?;
                begun = true;
            }
            ("$Nodes", true) if reader.is_version_2 => reader.nodes_2()?,
            ("$Nodes", true) => reader.nodes_4()?,
            ("$Elements", true) if reader.is_version_2 => reader.elements_2()?,
            ("$Elements", true) => reader.elements_4()?,
            (section, _) if section.starts_with('$') && !section.starts_with("$End") => {
                reader.skip_section(section)?;
            }
            (found, _) => {
                let found = super::excerpt(found);
                let expected = if begun { "a section" } else { "$MeshFormat" };
                let what = format!("found \"{found}\"; expected {expected}");
                return Err(reader.cursor.wrong(what));
            }
        }
    }
    reader.gathered.finish(path)
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    written: NumberEncoding,
    /// Whether the file is of version 2.
    is_version_2: bool,
    /// Vertices by the tags of nodes.
    numbers: HashMap<i64, u32>,
    gathered: TetFileContent,
}

impl Reader<'_> {
    fn format(&mut self) -> Result<(), SceneError> {
        let cursor = &mut self.cursor;
        let version = cursor.word("the version")?;
        self.is_version_2 = match version {
            "2" | "2.0" | "2.1" | "2.2" => true,
            "4.1" => false,
            found => {
                let found = super::excerpt(found);
                return Err(cursor.wrong(format!("version {found}; expected 2.2 or 4.1")));
            }
        };
        let is_binary: u8 = cursor.parse("0 for text or 1 for binary")?;
        let size: u8 = cursor.parse("the size of a number")?;
        if size != 8 {
            return Err(cursor.wrong(format!("numbers of {size} bytes; expected 8")));
        }
        if is_binary == 1 {
            cursor.rest_of_line();
            let one = cursor.take(4, "the number one")?;
            self.written = match *one {
                [1, 0, 0, 0] => NumberEncoding::LittleEndian,
                [0, 0, 0, 1] => NumberEncoding::BigEndian,
                _ => {
                    return Err(
                        cursor.wrong(format!("found bytes {one:?}; expected the number one"))
                    );
                }
            };
        } else if is_binary != 0 {
            return Err(
                cursor.wrong(format!("found {is_binary}; expected 0 for text or 1 for binary"))
            );
        }
        self.end("$EndMeshFormat")
    }

    fn end(&mut self, expected: &str) -> Result<(), SceneError> {
        let found = self.cursor.word(expected)?;
        if found == expected {
            return Ok(());
        }
        let found = super::excerpt(found);
        Err(self.cursor.wrong(format!("found \"{found}\"; expected {expected}")))
    }

    fn skip_section(&mut self, section: &str) -> Result<(), SceneError> {
        let end = format!("$End{}", &section[1..]);
        loop {
            let before = self.cursor;
            let line = self.cursor.rest_of_line();
            if line.trim() == end {
                return Ok(());
            }
            if before.clone().try_word().is_none() {
                return Err(self.cursor.wrong(format!("the file ends; expected {end}")));
            }
        }
    }

    /// Bytes that a number takes at least: a digit and a gap in text.
    fn least(&self, binary: usize) -> usize {
        if self.written == NumberEncoding::Text { 2 } else { binary }
    }

    fn int(&mut self, expected: &str) -> Result<i64, SceneError> {
        self.cursor.integer(self.written, NumberType::I32, expected)
    }

    fn size(&mut self, expected: &str) -> Result<i64, SceneError> {
        self.cursor.integer(self.written, NumberType::I64, expected)
    }

    /// A count in the numbers of version 4.
    fn count(&mut self, what: &str, least: usize) -> Result<usize, SceneError> {
        let found = self.size(&format!("a number of {what}"))?;
        self.cursor.fits(u64::try_from(found).unwrap_or(u64::MAX), what, least)
    }

    /// Binary numbers begin after the end of the line.
    fn begin(&mut self) {
        if self.written != NumberEncoding::Text {
            self.cursor.rest_of_line();
        }
    }

    fn position(&mut self) -> Result<Vector3<f64>, SceneError> {
        let mut at = [0.0; 3];
        for x in &mut at {
            *x = self.cursor.real(self.written, NumberType::F64, "a finite coordinate")?;
        }
        Ok(at.into())
    }

    fn node(&mut self, tag: i64, at: Vector3<f64>) -> Result<(), SceneError> {
        let number = self.gathered.vertices.len() as u32;
        self.gathered.vertices.push(at);
        match self.numbers.insert(tag, number) {
            None => Ok(()),
            Some(_) => {
                Err(self.cursor.wrong(format!("node {tag} for the second time; expected once")))
            }
        }
    }

    fn element(&mut self, tag: i64, nodes: &[i64]) -> Result<(), SceneError> {
        let mut corners = [0; 4];
        for (corner, node) in corners.iter_mut().zip(nodes) {
            *corner = *self.numbers.get(node).ok_or_else(|| {
                self.cursor
                    .wrong(format!("element {tag} names node {node}; expected one of those above"))
            })?;
        }
        self.gathered.tetrahedra.push(corners);
        let is_text = self.written == NumberEncoding::Text;
        self.gathered.lines.push(if is_text { self.cursor.line as u32 } else { 0 });
        Ok(())
    }

    /// Number of nodes of an element's type and whether it is a tetrahedron; an error for types of three
    /// dimensions that are not known.
    fn kind(&self, kind: i64) -> Result<(usize, bool), SceneError> {
        if kind == TETRAHEDRON {
            return Ok((4, true));
        }
        match flat(kind) {
            Some(nodes) => Ok((nodes, false)),
            None => Err(self.cursor.wrong(format!(
                "an element is a {} (type {kind}); expected tetrahedra of four nodes (type {TETRAHEDRON})",
                name(kind)
            ))),
        }
    }

    fn nodes_2(&mut self) -> Result<(), SceneError> {
        let count = self.cursor.count("nodes", self.least(28))?;
        self.begin();
        for _ in 0..count {
            let tag = self.int("the tag of a node")?;
            let at = self.position()?;
            self.node(tag, at)?;
        }
        self.end("$EndNodes")
    }

    fn elements_2(&mut self) -> Result<(), SceneError> {
        let count = self.cursor.count("elements", self.least(8))?;
        self.begin();
        let mut left = count;
        while left > 0 {
            // Binary files share type and number of tags among several elements, in text each has its own.
            let (tag, kind, together, tags) = if self.written == NumberEncoding::Text {
                let (tag, kind) =
                    (self.int("the tag of an element")?, self.int("the type of an element")?);
                (Some(tag), kind, 1, self.int("a number of tags")?)
            } else {
                let (kind, together) =
                    (self.int("the type of elements")?, self.int("their number")?);
                (None, kind, together, self.int("a number of tags")?)
            };
            let together = usize::try_from(together).ok().filter(|n| (1..=left).contains(n));
            let Some((together, tags)) = together.zip(usize::try_from(tags).ok()) else {
                let what = format!("a group with {tags} tags; expected at most {left} elements");
                return Err(self.cursor.wrong(what));
            };
            let (nodes, is_tetrahedron) = self.kind(kind)?;
            for _ in 0..together {
                let tag = match tag {
                    Some(tag) => tag,
                    None => self.int("the tag of an element")?,
                };
                for _ in 0..tags {
                    self.int("a tag")?;
                }
                self.corners(tag, nodes, is_tetrahedron, NumberType::I32)?;
            }
            left -= together;
        }
        self.end("$EndElements")
    }

    /// Reads the nodes of an element.
    fn corners(
        &mut self,
        tag: i64,
        nodes: usize,
        keep: bool,
        kind: NumberType,
    ) -> Result<(), SceneError> {
        let mut corners = [0; 4];
        for k in 0..nodes {
            let node = self.cursor.integer(self.written, kind, "a node of an element")?;
            if k < 4 {
                corners[k] = node;
            }
        }
        if keep { self.element(tag, &corners) } else { Ok(()) }
    }

    fn nodes_4(&mut self) -> Result<(), SceneError> {
        self.begin();
        let blocks = self.count("blocks of nodes", self.least(20))?;
        self.count("nodes", self.least(32))?;
        self.size("the least tag")?;
        self.size("the greatest tag")?;
        for _ in 0..blocks {
            let dimension = self.int("the dimension of a block")?;
            self.int("the tag of a block")?;
            let parametric = self.int("0 or 1 for parameters")?;
            let count = self.count("nodes", self.least(32))?;
            let mut tags = Vec::with_capacity(count);
            for _ in 0..count {
                tags.push(self.size("the tag of a node")?);
            }
            let parameters = if parametric == 0 { 0 } else { dimension.clamp(0, 3) };
            for tag in tags {
                let at = self.position()?;
                for _ in 0..parameters {
                    self.cursor.real(self.written, NumberType::F64, "a parameter of a node")?;
                }
                self.node(tag, at)?;
            }
        }
        self.end("$EndNodes")
    }

    fn elements_4(&mut self) -> Result<(), SceneError> {
        self.begin();
        let blocks = self.count("blocks of elements", self.least(20))?;
        self.count("elements", self.least(16))?;
        self.size("the least tag")?;
        self.size("the greatest tag")?;
        for _ in 0..blocks {
            self.int("the dimension of a block")?;
            self.int("the tag of a block")?;
            let kind = self.int("the type of elements")?;
            let (nodes, is_tetrahedron) = self.kind(kind)?;
            let count = self.count("elements", self.least(8 * (nodes + 1)))?;
            for _ in 0..count {
                let tag = self.size("the tag of an element")?;
                self.corners(tag, nodes, is_tetrahedron, NumberType::I64)?;
            }
        }
        self.end("$EndElements")
    }
}

/// Number of nodes of elements of at most two dimensions.
fn flat(kind: i64) -> Option<usize> {
    Some(match kind {
        15 => 1,
        1 => 2,
        2 | 8 => 3,
        3 | 26 => 4,
        27 => 5,
        9 | 28 => 6,
        16 => 8,
        10 | 20 => 9,
        21 => 10,
        22 => 12,
        23 | 24 => 15,
        36 => 16,
        25 => 21,
        37 => 25,
        _ => return None,
    })
}

fn name(kind: i64) -> &'static str {
    match kind {
        5 => "hexahedron",
        6 => "prism",
        7 => "pyramid",
        11 => "tetrahedron of ten nodes",
        12 | 17 => "hexahedron of second order",
        29..=31 => "tetrahedron of higher order",
        _ => "element of an unsupported type",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of text, or numbers of 4 or 8 bytes.
    struct Writer {
        file: Vec<u8>,
        written: NumberEncoding,
    }

    impl Writer {
        fn text(&mut self, text: &str) {
            self.file.extend(text.bytes());
        }

        fn put(&mut self, text: String, little: &[u8]) {
            match self.written {
                NumberEncoding::Text => self.text(&format!("{text} ")),
                NumberEncoding::LittleEndian => self.file.extend(little),
                NumberEncoding::BigEndian => self.file.extend(little.iter().rev()),
            }
        }

        fn int(&mut self, x: u32) {
            self.put(x.to_string(), &x.to_le_bytes());
        }

        fn ints(&mut self, all: &[u32]) {
            all.iter().for_each(|&x| self.int(x));
        }

        fn sizes(&mut self, all: &[usize]) {
            all.iter().for_each(|&x| self.size(x));
        }

        fn size(&mut self, x: usize) {
            self.put(x.to_string(), &(x as u64).to_le_bytes());
        }

        fn real(&mut self, x: f64) {
            self.put(format!("{x:e}"), &x.to_le_bytes());
        }

        fn line(&mut self) {
            if self.written == NumberEncoding::Text {
                self.text("\n");
            }
        }
    }

    /// Writes a mesh with tags that count down, and a triangle among the elements.
    fn written(mesh: &TetMesh, version: &str, how: NumberEncoding) -> Vec<u8> {
        let mut w = Writer { file: Vec::new(), written: how };
        let binary = u8::from(how != NumberEncoding::Text);
        w.text(&format!("$MeshFormat\n{version} {binary} 8\n"));
        if binary == 1 {
            w.int(1);
            w.text("\n");
        }
        w.text(
            "$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"all $of it\"\n$EndPhysicalNames\n$Nodes\n",
        );
        let (n, m) = (mesh.vertices().len(), mesh.tetrahedra().len());
        let tag = |v: usize| 3 * (n - v) + 5;
        let nodes = |w: &mut Writer, write: &dyn Fn(&mut Writer, usize)| {
            (0..n).for_each(|v| write(w, v));
        };
        let at = |w: &mut Writer, v: usize| {
            mesh.vertices()[v].iter().for_each(|&x| w.real(x));
            w.line();
        };
        let second = version.starts_with('2');
        if second {
            w.text(&format!("{n}\n"));
            nodes(&mut w, &|w, v| {
                w.int(tag(v) as u32);
                at(w, v);
            });
        } else {
            w.sizes(&[2, n, 8, 3 * n + 5]);
            // Half of the nodes with a parameter.
            for (block, range) in [0..n / 2, n / 2..n].into_iter().enumerate() {
                w.ints(&[1, 1, block as u32]);
                w.size(range.len());
                w.line();
                range.clone().for_each(|v| w.size(tag(v)));
                w.line();
                for v in range {
                    at(&mut w, v);
                    if block == 1 {
                        w.real(0.5);
                    }
                }
            }
        }
        w.text("\n$EndNodes\n$Elements\n");
        if second {
            w.text(&format!("{}\n", m + 1));
            let element = |w: &mut Writer, k: usize, corners: &[u32]| {
                if how == NumberEncoding::Text {
                    w.ints(&[k as u32, if corners.len() == 3 { 2 } else { 4 }, 2]);
                } else {
                    w.int(k as u32);
                }
                w.ints(&[1, 7]);
                corners.iter().for_each(|&v| w.int(tag(v as usize) as u32));
                w.line();
            };
            if binary == 1 {
                w.ints(&[2, 1, 2]);
            }
            element(&mut w, 1, &[0, 1, 2]);
            if binary == 1 {
                w.ints(&[4, m as u32, 2]);
            }
            mesh.tetrahedra().iter().enumerate().for_each(|(k, t)| element(&mut w, k + 2, t));
        } else {
            w.sizes(&[2, m + 1, 1, m + 1]);
            let blocks: [(u32, u32, Vec<Vec<u32>>); 2] = [
                (2, 2, vec![vec![0, 1, 2]]),
                (3, 4, mesh.tetrahedra().iter().map(|t| t.to_vec()).collect()),
            ];
            for (dimension, kind, elements) in blocks {
                w.ints(&[dimension, 1, kind]);
                w.size(elements.len());
                w.line();
                for (k, corners) in elements.iter().enumerate() {
                    w.size(k + 1);
                    corners.iter().for_each(|&v| w.size(tag(v as usize)));
                    w.line();
                }
            }
        }
        w.text("\n$EndElements\n");
        w.file
    }

    const WAYS: [NumberEncoding; 3] =
        [NumberEncoding::Text, NumberEncoding::LittleEndian, NumberEncoding::BigEndian];

    #[test]
    fn all_ways_of_writing_a_mesh_read_the_same() {
        let mesh = TetMesh::cone(0.1, 0.2, 2).unwrap();
        for (version, how) in ["2.2", "4.1"].into_iter().flat_map(|v| WAYS.map(|how| (v, how))) {
            let file = written(&mesh, version, how);
            let read = parse(&file, Path::new("cone.msh"));
            assert_eq!(read.unwrap(), mesh, "{version} {how:?}");
        }
    }

    #[test]
    fn a_file_that_ends_early_or_is_garbled_is_refused_and_never_panics() {
        let mesh = TetMesh::cuboid(Vector3::repeat(1.0), [1; 3]).unwrap();
        for (version, how) in ["2.2", "4.1"].into_iter().flat_map(|v| WAYS.map(|how| (v, how))) {
            let file = written(&mesh, version, how);
            for length in 0..file.len() - 2 {
                assert!(parse(&file[..length], Path::new("a.msh")).is_err(), "{version} {length}");
            }
            for k in 0..file.len() {
                let mut garbled = file.clone();
                garbled[k] = garbled[k].wrapping_mul(31).wrapping_add(k as u8);
                let _ = parse(&garbled, Path::new("a.msh"));
            }
        }
    }

    #[test]
    fn errors_name_the_line() {
        let nodes = "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n9 0 0 2\n$EndNodes\n";
        let file = |elements: &str| {
            let text =
                format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n{nodes}$Elements\n{elements}");
            parse(text.as_bytes(), Path::new("a.msh")).unwrap_err().to_string()
        };
        for (elements, line, what) in [
            ("1\n1 4 2 0 1 1 2 3 5\n$EndElements\n", 14, "names node 5"),
            ("1\n1 4 2 0 1 1 2 3 x\n$EndElements\n", 14, "\"x\""),
            ("1\n1 5 2 0 1 1 2 3 4 1 2 3 4\n$EndElements\n", 14, "hexahedron"),
            ("1\n1 11 2 0 1 1 2 3 4 1 2 3 4 1 1\n$EndElements\n", 14, "ten nodes"),
            ("1\n1 4 0 1 4 9 1\n$EndElements\n", 14, "element 0"),
            ("1\n1 4 0 1 2 3 4\n$EndNodes\n", 15, "$EndElements"),
            ("99999999999\n1 4 0 1 2 3 4\n", 13, "99999999999"),
        ] {
            let message = file(elements);
            let place = format!("a.msh:{line}: ");
            assert!(message.starts_with(&place) && message.contains(what), "{message}");
        }
        for text in
            ["", "$Nodes\n0\n$EndNodes\n", "$MeshFormat\n4.0 0 8\n$EndMeshFormat\n", "solid"]
        {
            assert!(parse(text.as_bytes(), Path::new("a.msh")).is_err());
        }
        let twice = nodes.replace("9 0", "4 0");
        let text = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n{twice}");
        let message = parse(text.as_bytes(), Path::new("a.msh")).unwrap_err().to_string();
        assert!(message.starts_with("a.msh:10: node 4"), "{message}");
    }
}
