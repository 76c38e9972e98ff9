//! VTK files of unstructured grids, in the format that begins with `# vtk DataFile`: text or binary (big endian).
//!
//! Points, cells and their types are read, up to the data that may follow; cells either as lists of
//! counts and points (to version 4) or as offsets and connectivity (from 5 on). Of cells of three dimensions only
//! tetrahedra are known.

use std::path::Path;

use nalgebra::Vector3;
use stiction_geom::TetMesh;

use super::tetrahedra::{Cursor, NumberEncoding, NumberType, TetFileContent};
use super::wrong;
use crate::error::SceneError;

/// Type of a cell that is a tetrahedron.
const TETRA: i64 = 10;

/// Reads the bytes of a file.
pub fn parse(bytes: &[u8], path: &Path) -> Result<TetMesh, SceneError> {
    let mut cursor = Cursor::new(bytes, path);
    let head = cursor.rest_of_line();
    if !head.to_ascii_lowercase().starts_with("# vtk datafile") {
        let found = super::excerpt(head);
        return Err(cursor.wrong(format!("found \"{found}\"; expected \"# vtk DataFile Version\"")));
    }
    cursor.rest_of_line(); // title
    let written = match cursor.word("ASCII or BINARY")?.to_ascii_uppercase().as_str() {
        "ASCII" => NumberEncoding::Text,
        "BINARY" => NumberEncoding::BigEndian,
        found => return Err(cursor.wrong(format!("found \"{found}\"; expected ASCII or BINARY"))),
    };
    expect(&mut cursor, "DATASET")?;
    expect(&mut cursor, "UNSTRUCTURED_GRID")?;
    let mut grid = Grid { written, ..Grid::default() };
    while let Some(keyword) = cursor.try_word() {
        match keyword.to_ascii_uppercase().as_str() {
            "POINTS" => grid.points(&mut cursor)?,
            "CELLS" => grid.cells(&mut cursor)?,
            "CELL_TYPES" => grid.types(&mut cursor)?,
            "FIELD" => grid.field(&mut cursor)?,
            "METADATA" => while !cursor.rest_of_line().trim().is_empty() {},
            // Data of points and cells follow, which do not affect the shape.
            "POINT_DATA" | "CELL_DATA" => break,
            _ => {
                let found = super::excerpt(keyword);
                return Err(cursor.wrong(format!(
                    "found \"{found}\"; expected POINTS, CELLS, CELL_TYPES, FIELD, POINT_DATA or CELL_DATA"
                )));
            }
        }
    }
    grid.gather(path)?.finish(path)
}

/// Reads an expected word.
fn expect(cursor: &mut Cursor, expected: &str) -> Result<(), SceneError> {
    let found = cursor.word(expected)?;
    if found.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    Err(cursor.wrong(format!("found \"{}\"; expected {expected}", super::excerpt(found))))
}

/// Reads the name of a type of numbers.
fn number(cursor: &mut Cursor) -> Result<NumberType, SceneError> {
    let expected = "a type of numbers";
    Ok(match cursor.word(expected)?.to_ascii_lowercase().as_str() {
        "float" => NumberType::F32,
        "double" => NumberType::F64,
        "int" | "unsigned_int" | "vtktypeint32" | "vtktypeuint32" => NumberType::I32,
        "long" | "unsigned_long" | "vtkidtype" | "vtktypeint64" | "vtktypeuint64" => {
            NumberType::I64
        }
        "char" | "unsigned_char" | "vtktypeint8" | "vtktypeuint8" => NumberType::Other(1),
        "short" | "unsigned_short" | "vtktypeint16" | "vtktypeuint16" => NumberType::Other(2),
        found => return Err(cursor.wrong(format!("found \"{found}\"; expected {expected}"))),
    })
}

/// The sections of a file.
struct Grid {
    written: NumberEncoding,
    points: Vec<Vector3<f64>>,
    /// Points of the cells, one cell after the other, where each starts, and its line.
    corners: Vec<i64>,
    starts: Vec<usize>,
    lines: Vec<u32>,
    types: Vec<i64>,
}

impl Default for Grid {
    fn default() -> Self {
        Self {
            written: NumberEncoding::Text,
            points: Vec::new(),
            corners: Vec::new(),
            starts: vec![0],
            lines: Vec::new(),
            types: Vec::new(),
        }
    }
}

impl Grid {
    /// Bytes that a number takes at least: a digit and a gap in text.
    fn least(&self, kind: NumberType) -> usize {
        if self.written == NumberEncoding::Text { 2 } else { kind.size() }
    }

    /// Binary numbers begin after the end of the line.
    fn begin(&self, cursor: &mut Cursor) {
        if self.written != NumberEncoding::Text {
            cursor.rest_of_line();
        }
    }

    fn points(&mut self, cursor: &mut Cursor) -> Result<(), SceneError> {
        // A file may end without a gap after its last number.
        let count = cursor.count("points", 3)?;
        let kind = number(cursor)?;
        if !matches!(kind, NumberType::F32 | NumberType::F64) {
            return Err(cursor.wrong("found points of whole numbers; expected float or double"));
        }
        cursor.fits(count as u64, "points", 3 * self.least(kind) - 1)?;
        self.begin(cursor);
        self.points.clear();
        for _ in 0..count {
            let mut at = [0.0; 3];
            for x in &mut at {
                *x = cursor.real(self.written, kind, "a finite coordinate")?;
            }
            self.points.push(at.into());
        }
        Ok(())
    }

    fn cells(&mut self, cursor: &mut Cursor) -> Result<(), SceneError> {
        let (count, size) = (cursor.count("cells", 1)?, cursor.count("numbers of cells", 1)?);
        self.corners.clear();
        self.lines.clear();
        self.starts = vec![0];
        let mut ahead = *cursor;
        if ahead.try_word().is_some_and(|word| word.eq_ignore_ascii_case("OFFSETS")) {
            *cursor = ahead;
            return self.offsets(cursor, count, size);
        }
        cursor.fits(size as u64, "numbers of cells", self.least(NumberType::I32) - 1)?;
        self.begin(cursor);
        let mut left = size;
        for cell in 0..count {
            let expected = "the number of points of a cell";
            let n = cursor.integer(self.written, NumberType::I32, expected)?;
            self.lines.push(self.line(cursor));
            left = match usize::try_from(n).ok().and_then(|n| left.checked_sub(n + 1)) {
                Some(left) => left,
                None => {
                    return Err(cursor.wrong(format!(
                        "cell {cell} has {n} points; expected as many as the {size} numbers of all cells leave"
                    )));
                }
            };
            for _ in 0..n {
                self.corners.push(cursor.integer(
                    self.written,
                    NumberType::I32,
                    "a point of a cell",
                )?);
            }
            self.starts.push(self.corners.len());
        }
        if left > 0 {
            let what = format!("{left} of {size} numbers are left after {count} cells");
            return Err(cursor.wrong(format!("{what}; expected none")));
        }
        Ok(())
    }

    /// Offsets of `count` − 1 cells, then the points of all.
    fn offsets(
        &mut self,
        cursor: &mut Cursor,
        count: usize,
        size: usize,
    ) -> Result<(), SceneError> {
        let kind = whole(cursor)?;
        cursor.fits(count as u64, "offsets", self.least(kind) - 1)?;
        self.begin(cursor);
        self.starts.clear();
        for k in 0..count {
            let found = cursor.integer(self.written, kind, "the offset of a cell")?;
            let least = self.starts.last().copied().unwrap_or(0);
            let start = usize::try_from(found).ok().filter(|s| (least..=size).contains(s));
            let Some(start) = start.filter(|&s| k > 0 || s == 0) else {
                return Err(cursor.wrong(format!(
                    "offset {k} is {found}; expected them to grow from 0 to {size}"
                )));
            };
            self.starts.push(start);
        }
        if self.starts.last() != Some(&size) {
            return Err(cursor.wrong(format!("expected {count} offsets, the last of them {size}")));
        }
        expect(cursor, "CONNECTIVITY")?;
        let kind = whole(cursor)?;
        cursor.fits(size as u64, "points of cells", self.least(kind) - 1)?;
        self.begin(cursor);
        for k in 0..size {
            self.corners.push(cursor.integer(self.written, kind, "a point of a cell")?);
            while self.lines.len() + 1 < self.starts.len() && self.starts[self.lines.len()] <= k {
                self.lines.push(self.line(cursor));
            }
        }
        self.lines.resize(self.starts.len() - 1, 0);
        Ok(())
    }

    fn types(&mut self, cursor: &mut Cursor) -> Result<(), SceneError> {
        let count = cursor.count("types of cells", 1)?;
        cursor.fits(count as u64, "types of cells", self.least(NumberType::I32) - 1)?;
        self.begin(cursor);
        self.types.clear();
        for _ in 0..count {
            self.types.push(cursor.integer(self.written, NumberType::I32, "the type of a cell")?);
        }
        Ok(())
    }

    /// Passes over arrays with names.
    fn field(&mut self, cursor: &mut Cursor) -> Result<(), SceneError> {
        cursor.word("the name of a field")?;
        for _ in 0..cursor.count("arrays", 1)? {
            let name = cursor.word("the name of an array")?;
            if name.eq_ignore_ascii_case("METADATA") {
                while !cursor.rest_of_line().trim().is_empty() {}
                cursor.word("the name of an array")?;
            }
            let (width, length) = (cursor.count("components", 1)?, cursor.count("tuples", 0)?);
            let kind = match cursor.word("a type of numbers")?.to_ascii_lowercase().as_str() {
                "string" => {
                    // Each on a line of its own, or behind its length: not worth a decoder.
                    return Err(cursor.wrong("found an array of strings; expected numbers"));
                }
                "float" | "int" | "unsigned_int" | "vtktypeint32" => NumberType::I32,
                "char" | "unsigned_char" | "vtktypeint8" | "vtktypeuint8" => NumberType::Other(1),
                "short" | "unsigned_short" => NumberType::Other(2),
                _ => NumberType::I64,
            };
            let total = (width as u64).saturating_mul(length as u64);
            let total = cursor.fits(total, "numbers", 1)?;
            self.begin(cursor);
            if self.written == NumberEncoding::Text {
                for _ in 0..total {
                    cursor.word("a number of an array")?;
                }
            } else {
                cursor.take(total.saturating_mul(kind.size()), "an array")?;
            }
        }
        Ok(())
    }

    fn line(&self, cursor: &Cursor) -> u32 {
        if self.written == NumberEncoding::Text { cursor.line as u32 } else { 0 }
    }

    /// The tetrahedra; an error for other cells of three dimensions, and for points that do not exist.
    fn gather(self, path: &Path) -> Result<TetFileContent, SceneError> {
        let cells = self.starts.len() - 1;
        if self.types.len() != cells {
            let found = self.types.len();
            return Err(wrong(path, format!("{found} types of cells; expected {cells}")));
        }
        let mut gathered = TetFileContent { vertices: self.points, ..TetFileContent::default() };
        for cell in 0..cells {
            let corners = &self.corners[self.starts[cell]..self.starts[cell + 1]];
            let line = self.lines.get(cell).copied().unwrap_or(0);
            let told = |what: String| match line {
                0 => wrong(path, what),
                line => super::wrong_line(path, line as usize, what),
            };
            let kind = self.types[cell];
            if kind != TETRA {
                if is_flat(kind) {
                    continue;
                }
                let name = name(kind);
                return Err(told(format!(
                    "cell {cell} is a {name} (type {kind}); expected tetrahedra (type {TETRA})"
                )));
            }
            let [a, b, c, d] = *corners else {
                let n = corners.len();
                return Err(told(format!("tetrahedron {cell} has {n} points; expected 4")));
            };
            let vertices = gathered.vertices.len();
            let mut t = [0; 4];
            for (to, from) in t.iter_mut().zip([a, b, c, d]) {
                let Some(v) = usize::try_from(from).ok().filter(|&v| v < vertices) else {
                    return Err(told(format!(
                        "cell {cell} names point {from}; expected one of {vertices}, counted from 0"
                    )));
                };
                *to = v as u32;
            }
            gathered.tetrahedra.push(t);
            gathered.lines.push(line);
        }
        Ok(gathered)
    }
}

/// A type of whole numbers.
fn whole(cursor: &mut Cursor) -> Result<NumberType, SceneError> {
    let kind = number(cursor)?;
    if matches!(kind, NumberType::I32 | NumberType::I64) {
        return Ok(kind);
    }
    Err(cursor.wrong("expected whole numbers of 32 or 64 bits"))
}

/// Whether cells of this type have at most two dimensions.
fn is_flat(kind: i64) -> bool {
    matches!(kind, 0..=9 | 21..=23 | 28 | 30 | 34..=36 | 68..=70 | 75..=77)
}

fn name(kind: i64) -> &'static str {
    match kind {
        11 => "voxel",
        12 => "hexahedron",
        13 => "wedge",
        14 => "pyramid",
        24 => "tetrahedron of ten points",
        25 => "hexahedron of twenty points",
        42 => "polyhedron",
        _ => "cell of another kind",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball() -> TetMesh {
        TetMesh::sphere(0.1, 2).unwrap()
    }

    /// Writes a mesh, with a triangle among the cells and data after them.
    fn written(mesh: &TetMesh, binary: bool, by_offsets: bool) -> Vec<u8> {
        let kind = if binary { "BINARY" } else { "ASCII" };
        let mut file =
            format!("# vtk DataFile Version 4.2\na ball\n{kind}\nDATASET UNSTRUCTURED_GRID\n")
                .into_bytes();
        let put = |file: &mut Vec<u8>, words: &[i64], size: usize| {
            for &word in words {
                if !binary {
                    file.extend(format!("{word} ").bytes());
                } else if size == 8 {
                    file.extend(word.to_be_bytes());
                } else {
                    file.extend((word as i32).to_be_bytes());
                }
            }
            file.push(b'\n');
        };
        file.extend(b"FIELD FieldData 1\nTIME 1 2 double\n");
        if binary {
            file.extend([7; 16])
        } else {
            file.extend(b"0 1")
        }
        file.extend(format!("\nPOINTS {} double\n", mesh.vertices().len()).bytes());
        for p in mesh.vertices() {
            for x in p.iter() {
                if binary {
                    file.extend(x.to_be_bytes())
                } else {
                    file.extend(format!("{x:e} ").bytes())
                }
            }
        }
        file.push(b'\n');
        let mut cells: Vec<Vec<i64>> = vec![vec![0, 1, 2]];
        cells.extend(mesh.tetrahedra().iter().map(|t| t.iter().map(|&v| i64::from(v)).collect()));
        let size: usize = cells.iter().map(Vec::len).sum();
        if by_offsets {
            file.extend(
                format!("CELLS {} {size}\nOFFSETS vtktypeint64\n", cells.len() + 1).bytes(),
            );
            let mut offsets = vec![0];
            cells
                .iter()
                .for_each(|cell| offsets.push(offsets[offsets.len() - 1] + cell.len() as i64));
            put(&mut file, &offsets, 8);
            file.extend(b"CONNECTIVITY vtktypeint64\n");
            cells.iter().for_each(|cell| put(&mut file, cell, 8));
            if binary {
                // Ends of lines between the cells were none of the numbers.
                let start = file.len() - cells.len() - 8 * size;
                let tail = file.split_off(start);
                let mut tail = &tail[..];
                for cell in &cells {
                    file.extend(&tail[..8 * cell.len()]);
                    tail = &tail[8 * cell.len() + 1..];
                }
                file.push(b'\n');
            }
        } else {
            file.extend(format!("CELLS {} {}\n", cells.len(), size + cells.len()).bytes());
            let mut all = Vec::new();
            cells.iter().for_each(|cell| {
                all.push(cell.len() as i64);
                all.extend(cell);
            });
            put(&mut file, &all, 4);
        }
        file.extend(format!("CELL_TYPES {}\n", cells.len()).bytes());
        let types: Vec<i64> =
            cells.iter().map(|cell| if cell.len() == 3 { 5 } else { 10 }).collect();
        put(&mut file, &types, 4);
        file.extend(b"POINT_DATA 1\nSCALARS anything int 1\nwhatever");
        file
    }

    #[test]
    fn all_ways_of_writing_a_mesh_read_the_same() {
        let mesh = ball();
        for (binary, by_offsets) in [(false, false), (false, true), (true, false), (true, true)] {
            let file = written(&mesh, binary, by_offsets);
            let read = parse(&file, Path::new("ball.vtk")).unwrap();
            assert_eq!(read, mesh, "{binary} {by_offsets}");
        }
    }

    #[test]
    fn a_file_that_ends_early_or_is_garbled_is_refused_and_never_panics() {
        let mesh = TetMesh::cuboid(Vector3::repeat(1.0), [1; 3]).unwrap();
        for (binary, by_offsets) in [(false, false), (false, true), (true, false), (true, true)] {
            let file = written(&mesh, binary, by_offsets);
            let end = file.windows(10).position(|w| w == b"POINT_DATA").unwrap();
            for length in 0..end - 4 {
                assert!(parse(&file[..length], Path::new("a.vtk")).is_err(), "{length}");
            }
            for k in 0..end {
                let mut garbled = file.clone();
                garbled[k] = garbled[k].wrapping_mul(31).wrapping_add(k as u8);
                let _ = parse(&garbled, Path::new("a.vtk"));
            }
        }
    }

    #[test]
    fn errors_name_the_line() {
        let file = |cells: &str, types: &str| {
            let points = "POINTS 5 float\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n0 0 2\n";
            let head = "# vtk DataFile Version 2.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n";
            let text = format!("{head}{points}{cells}\nCELL_TYPES {types}\n");
            parse(text.as_bytes(), Path::new("a.vtk")).unwrap_err().to_string()
        };
        for (cells, types, line, what) in [
            ("CELLS 1 5\n4 0 1 2 5", "1\n10", 12, "names point 5"),
            ("CELLS 1 5\n4 0 1 2 -1", "1\n10", 12, "names point -1"),
            ("CELLS 1 5\n4 0 1 2 x", "1\n10", 12, "\"x\""),
            ("CELLS 1 6\n5 0 1 2 3 4", "1\n14", 12, "pyramid"),
            ("CELLS 1 5\n7 0 1 2 3", "1\n10", 12, "7 points"),
            ("CELLS 1 6\n4 0 1 2 3", "1\n10", 12, "1 of 6"),
            ("CELLS 2 10\n4 0 1 2 3\n4 0 3 4 3", "2\n10\n10", 13, "element 1"),
        ] {
            let message = file(cells, types);
            let place = format!("a.vtk:{line}: ");
            assert!(message.starts_with(&place) && message.contains(what), "{message}");
        }
        assert!(file("CELLS 1 5\n4 0 1 2 3", "2\n10 10").contains("2 types"));
        assert!(file("CELLS 99999999 99999999999\n4", "1\n10").contains("a.vtk:11: "));
        for text in ["", "solid", "# vtk DataFile Version 2.0\nt\nASCII\nDATASET POLYDATA\n"] {
            assert!(parse(text.as_bytes(), Path::new("a.vtk")).is_err());
        }
    }
}
