//! Polygons of contact patches of all frames: corners and mean pressure of the pressure field at the frame's poses.

use std::ops::Range;

use stiction_geom::PatchDetector;
use stiction_geom::pressure::PolygonPiece;

/// Most polygons of a frame. Where there are more, those with the largest areas are kept, and the others counted.
pub const MOST_POLYGONS: usize = 1024;

/// Polygons of all frames, one after the other. A recording that was not made by a recorder may have no frames here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedPatches {
    /// Per frame the index of its first polygon.
    pub first: Vec<usize>,
    /// Per frame the index of the first corner of its first polygon.
    pub first_corner: Vec<usize>,
    /// Per frame the number of polygons that were left out.
    pub omitted: Vec<u32>,
    /// Per polygon the two shapes, A and B, as in [`Recording::shapes`](super::Recording::shapes).
    pub shapes: Vec<[u32; 2]>,
    /// Per polygon its mean pressure [Pa].
    pub pressure: Vec<f32>,
    /// Per polygon the number of its corners.
    pub corners: Vec<u8>,
    /// Corners of all polygons in the world [m].
    pub corner: Vec<[f32; 3]>,
}

impl RecordedPatches {
    /// Whether there are frames, with or without polygons.
    pub fn is_recorded(&self) -> bool {
        !(self.first.is_empty() && self.shapes.is_empty() && self.corner.is_empty())
    }

    /// Indices of the polygons of a frame.
    pub fn of(&self, frame: usize) -> Range<usize> {
        Self::range(&self.first, frame, self.shapes.len())
    }

    /// Indices of the corners of the polygons of a frame.
    pub fn corners_of(&self, frame: usize) -> Range<usize> {
        Self::range(&self.first_corner, frame, self.corner.len())
    }

    fn range(first: &[usize], frame: usize, end: usize) -> Range<usize> {
        let start = first.get(frame).copied().unwrap_or(end);
        start..first.get(frame + 1).copied().unwrap_or(end)
    }

    /// Adds a frame with the polygons of a detector.
    pub(super) fn add(&mut self, detected: &PatchDetector) {
        self.begin_frame();
        let found = detected.found();
        let kept = kept_areas(detected);
        let (mut omitted, mut equal) = (0, kept.equal);
        for patch in detected.patches() {
            let shapes = [patch.a.0, patch.b.0];
            for piece in &found.pieces[patch.pieces.clone()] {
                let corners = found.corners_of(piece);
                let area = twice_area(corners);
                let is_kept = area > kept.least || (area == kept.least && equal > 0);
                if !is_kept {
                    omitted += 1;
                    continue;
                }
                equal -= usize::from(area == kept.least);
                self.push(shapes, piece, corners);
            }
        }
        if let Some(last) = self.omitted.last_mut() {
            *last = omitted;
        }
    }

    /// Adds a frame without polygons.
    pub(super) fn begin_frame(&mut self) {
        self.first.push(self.shapes.len());
        self.first_corner.push(self.corner.len());
        self.omitted.push(0);
    }

    fn push(&mut self, shapes: [u32; 2], piece: &PolygonPiece, corners: &[nalgebra::Vector3<f64>]) {
        self.shapes.push(shapes);
        self.pressure.push(piece.pressure as f32);
        self.corners.push(corners.len() as u8);
        self.corner.extend(corners.iter().map(|x| <[f32; 3]>::from(x.map(|c| c as f32))));
    }

    /// Removes the frames from the `n`-th on.
    pub(super) fn truncate(&mut self, n: usize) {
        let polygons = self.first.get(n).copied().unwrap_or(self.shapes.len());
        let corners = self.first_corner.get(n).copied().unwrap_or(self.corner.len());
        self.first.truncate(n);
        self.first_corner.truncate(n);
        self.omitted.truncate(n);
        self.shapes.truncate(polygons);
        self.pressure.truncate(polygons);
        self.corners.truncate(polygons);
        self.corner.truncate(corners);
    }
}

/// Which polygons are kept: those with a larger area than the least, and so many with this area.
struct KeptAreas {
    least: f64,
    equal: usize,
}

fn kept_areas(detected: &PatchDetector) -> KeptAreas {
    let found = detected.found();
    if found.pieces.len() <= MOST_POLYGONS {
        return KeptAreas { least: f64::NEG_INFINITY, equal: 0 };
    }
    let mut areas: Vec<f64> =
        found.pieces.iter().map(|piece| twice_area(found.corners_of(piece))).collect();
    areas.sort_unstable_by(|a, b| b.total_cmp(a));
    let least = areas[MOST_POLYGONS - 1];
    let equal = areas[..MOST_POLYGONS].iter().filter(|area| **area == least).count();
    KeptAreas { least, equal }
}

/// Twice the area of a convex polygon [m²].
fn twice_area(corners: &[nalgebra::Vector3<f64>]) -> f64 {
    let Some(base) = corners.first() else { return 0.0 };
    let fan = corners[1..].windows(2).map(|pair| (pair[0] - base).cross(&(pair[1] - base)).norm());
    fan.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compliance::Compliance;
    use crate::record::{Recorder, Recording};
    use crate::settings::Settings;
    use crate::simulation::Simulation;
    use crate::surface::Surface;
    use crate::world::{Geom, WorldBuilder};
    use nalgebra::{Isometry3, Vector3};
    use stiction_geom::Shape;
    use stiction_mech::{BodyId, BodySpec, JointKind, JointSpec, MassProperties};

    const MASS: f64 = 2.0;

    /// A slippery block on a floor with a pressure field, at the depth at which the pressure carries it.
    fn block(resolution: f64) -> Simulation {
        let mut builder = WorldBuilder::new();
        let foam =
            Compliance { dissipation: 0.2, thickness: Some(0.1), ..Compliance::with_modulus(1e5) };
        let floor = Surface { compliance: Some(foam), ..Surface::with_friction(0.0) };
        builder.geom(Geom::new(BodyId::WORLD, Shape::Plane).surface(floor));
        let rubber = Compliance { resolution: Some(resolution), ..Compliance::with_modulus(1e9) };
        let half = Vector3::new(0.1, 0.05, 0.05);
        let depth = MASS * 9.81 * 0.1 / (1e5 * 4.0 * half.x * half.y);
        let body = builder.mechanism.body(BodySpec {
            pose: Isometry3::translation(0.0, 0.0, half.z - depth),
            mass: MassProperties::new(MASS, Vector3::zeros(), nalgebra::Matrix3::identity()).ok(),
            ..BodySpec::default()
        });
        builder.mechanism.joint(body, JointSpec::new(JointKind::Free));
        let surface = Surface { compliance: Some(rubber), ..Surface::with_friction(0.0) };
        builder.geom(Geom::new(body, Shape::Box(half)).surface(surface));
        let settings = Settings { time_step: 0.005, ..Settings::default() };
        Simulation::new(builder.build().unwrap(), settings).unwrap()
    }

    fn record(simulation: &mut Simulation, steps: usize) -> Recording {
        let mut recorder = Recorder::new(simulation, f64::INFINITY).unwrap();
        for _ in 0..steps {
            let report = simulation.step().unwrap();
            recorder.observe(simulation, &report);
        }
        let recording = recorder.finish();
        recording.check().unwrap();
        recording
    }

    /// Σ area · pressure · normal along z over the polygons of a frame [N].
    fn load(patches: &RecordedPatches, frame: usize) -> f64 {
        let mut corner = patches.corners_of(frame).start;
        patches
            .of(frame)
            .map(|k| {
                let corners = &patches.corner[corner..corner + usize::from(patches.corners[k])];
                corner += corners.len();
                let at = |k: usize| Vector3::from(corners[k]).cast::<f64>();
                let fan = (2..corners.len())
                    .map(|k| 0.5 * (at(k - 1) - at(0)).cross(&(at(k) - at(0))).z.abs());
                fan.sum::<f64>() * f64::from(patches.pressure[k])
            })
            .sum()
    }

    #[test]
    fn the_polygons_of_every_frame_carry_the_weight() {
        let recording = record(&mut block(0.05), 4);
        let patches = &recording.frames.patches;
        for frame in 0..recording.len() {
            // Corners are rounded to 1e-8 m of 0.1 m, 1e-7 of the area. The field of the block is 2e4 times that of the floor.
            let found = load(patches, frame);
            assert!((found - MASS * 9.81).abs() <= 2e-4 * MASS * 9.81, "{frame}: {found}");
            assert_eq!(patches.omitted[frame], 0);
        }
        assert!(patches.shapes.iter().all(|shapes| *shapes == [0, 1]));
    }

    #[test]
    fn a_frame_keeps_its_largest_polygons_and_counts_the_others() {
        let recording = record(&mut block(0.002), 1);
        let patches = &recording.frames.patches;
        for frame in 0..2 {
            assert_eq!(patches.of(frame).len(), MOST_POLYGONS);
            // 100 × 50 squares of 2 mm under the block alone.
            assert!(patches.omitted[frame] as usize >= 5000 - MOST_POLYGONS);
        }
    }

    #[test]
    fn frames_that_are_removed_take_their_polygons_with_them() {
        let mut recording = record(&mut block(0.05), 6);
        let whole = recording.frames.patches.clone();
        recording.keep_until(recording.frames.time[3]);
        recording.check().unwrap();
        let patches = &recording.frames.patches;
        assert_eq!(patches.first.len(), 4);
        assert_eq!(patches.shapes.len(), whole.first[4]);
        assert_eq!(patches.corner[..], whole.corner[..whole.first_corner[4]]);
    }
}
