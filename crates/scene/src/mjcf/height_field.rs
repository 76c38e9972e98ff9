//! `<hfield>`: heights over a grid from a file or from the text, normalised to lie between 0 and 1.

use std::path::Path;

use stiction_geom::Shape;

use super::asset;
use super::build::Build;
use super::png;
use crate::error::SceneError;
use crate::xml::Element;

/// Rows times columns, at most.
const LARGEST: usize = 1 << 22;

/// A height field.
#[derive(Clone, Debug)]
pub(super) struct HeightFieldAsset {
    rows: usize,
    columns: usize,
    /// Heights between 0 and 1, one row of constant y after the other from the lowest.
    heights: Vec<f64>,
    /// Half lengths along x and y, height of 1 above 0, depth of the ground below 0 [m].
    pub size: [f64; 4],
}

impl HeightFieldAsset {
    /// The surface.
    pub fn shape(&self) -> Result<Shape, stiction_geom::ShapeError> {
        let [x, y, top, _] = self.size;
        let heights = self.heights.iter().map(|height| height * top).collect();
        Shape::height_field(self.rows, self.columns, heights, (2.0 * x, 2.0 * y))
    }
}

/// Reads `<hfield>`.
pub(super) fn read(
    build: &mut Build,
    element: &Element,
) -> Result<(String, HeightFieldAsset), SceneError> {
    element.get("content_type");
    let name = asset::name_of(element);
    let wrong = || element.wrong("size", "four positive numbers");
    let size = element.array::<4>("size")?.ok_or_else(wrong)?;
    if !size.iter().all(|part| *part > 0.0) {
        return Err(wrong());
    }
    let (rows, columns, heights) = match asset::file_of(build, element)? {
        Some(path) => from_file(build, element, &path)?,
        None => from_text(element)?,
    };
    if rows < 2 || columns < 2 {
        let found = format!("{rows} × {columns} heights; expected at least 2 × 2");
        return Err(element.error(found));
    }
    let heights = normalised(heights);
    Ok((name, HeightFieldAsset { rows, columns, heights, size }))
}

/// Heights between 0 and 1 in single precision, as MuJoCo keeps them; zeros if all are equal.
fn normalised(heights: Vec<f64>) -> Vec<f64> {
    let heights: Vec<f32> = heights.into_iter().map(|height| height as f32).collect();
    let low = heights.iter().copied().fold(f32::INFINITY, f32::min);
    let high = heights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let unit = |height: f32| if high > low { (height - low) / (high - low) } else { 0.0 };
    heights.into_iter().map(|height| f64::from(unit(height))).collect()
}

type Grid = (usize, usize, Vec<f64>);

/// Upper rows come first in the text.
fn from_text(element: &Element) -> Result<Grid, SceneError> {
    let count = |name: &str| {
        let found = element.integer(name)?.unwrap_or(0);
        usize::try_from(found)
            .ok()
            .filter(|n| (1..=LARGEST).contains(n))
            .ok_or_else(|| element.wrong(name, "a file, or a positive number of rows and columns"))
    };
    let (rows, columns) = (count("nrow")?, count("ncol")?);
    let total = rows.saturating_mul(columns);
    if total > LARGEST {
        return Err(element.error(format_args!("{total} heights; expected at most {LARGEST}")));
    }
    let Some(numbers) = element.numbers("elevation")? else {
        return Ok((rows, columns, vec![0.0; total]));
    };
    if numbers.len() != total {
        return Err(element.wrong("elevation", &format!("{rows} × {columns} numbers")));
    }
    Ok((rows, columns, upside_down(numbers, columns)))
}

fn upside_down(heights: Vec<f64>, columns: usize) -> Vec<f64> {
    heights.rchunks_exact(columns).flatten().copied().collect()
}

/// Upper rows come first in pictures, last in MuJoCo's own format: two counts, then heights.
fn from_file(build: &mut Build, element: &Element, path: &Path) -> Result<Grid, SceneError> {
    element.get("nrow");
    element.get("ncol");
    let bytes = build.files.read(path)?;
    let wrong = |what: String| SceneError::File { path: path.display().to_string(), what };
    if bytes.starts_with(&png::SIGNATURE) {
        let picture = png::grey(&bytes, LARGEST).map_err(|fault| wrong(fault.to_string()))?;
        let heights = upside_down(picture.grey.into_iter().map(f64::from).collect(), picture.width);
        return Ok((picture.height, picture.width, heights));
    }
    let word = |k: usize| {
        bytes.get(4 * k..4 * k + 4).and_then(|part| part.try_into().ok()).map(i32::from_le_bytes)
    };
    let size = |k: usize| word(k).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let (rows, columns) = (size(0), size(1));
    let total = rows.saturating_mul(columns);
    if total == 0 || total > LARGEST || bytes.len() != 8 + 4 * total {
        let found = bytes.len();
        return Err(wrong(format!(
            "{found} bytes that begin with {rows} × {columns}; expected a PNG picture, or these two \
             counts followed by as many heights"
        )));
    }
    let heights = bytes[8..]
        .chunks_exact(4)
        .map(|part| f64::from(f32::from_le_bytes([part[0], part[1], part[2], part[3]])));
    let heights: Vec<_> = heights.collect();
    if !heights.iter().all(|height| height.is_finite()) {
        return Err(wrong("a height that is no number; expected finite ones".into()));
    }
    Ok((rows, columns, heights))
}
