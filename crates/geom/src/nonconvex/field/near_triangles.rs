//! The triangles of a surface that may be within reach of a solid, kept from query to query.
//!
//! A list is made for more than the reach, by a margin, with the tree of the surface: a value minus the Lipschitz bound times the
//! radius of a box excludes all of it. It stays complete until the surface has moved so far relative to the solid that a value can have
//! changed by the margin, so that shapes at rest do not visit the tree again. Triangles beyond the reach that a list holds
//! change no result, and those within have the same order in every list. O(log n + triangles near), then O(1).

use super::around;
use super::distance_field::DistanceField;
use super::vertex_samples::VertexSamples;
use crate::shape::Mesh;
use nalgebra::{Isometry3, Vector3};

/// Margin of a list that is kept, relative to the mean edge of the surface [-].
const MARGIN: f64 = 0.25;
/// Most lists that are kept.
const MOST_LISTS: usize = 64;
/// Part by which bounds exceed round-off [-].
const ROUND_OFF: f64 = 1e-9;

/// What a list belongs to: the surface, the field, and the side within the pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearKey {
    pub surface: u64,
    pub field: u64,
    pub pass: u32,
}

/// The triangles near a solid at a pose of their surface.
#[derive(Debug)]
pub struct NearList {
    /// `None` if the list is not kept.
    key: Option<NearKey>,
    X_DM: Isometry3<f64>,
    /// Values up to which no triangle is missing [m]: the reach for which the list was made and the margin.
    complete: f64,
    margin: f64,
    /// Whether triangles beyond that are still to be removed.
    is_raw: bool,
    last_use: u64,
    pub triangles: Vec<u32>,
}

/// Lists of the pairs that were last queried.
#[derive(Debug, Default)]
pub struct NearLists {
    lists: Vec<NearList>,
    uses: u64,
}

impl NearLists {
    /// A list that is complete for the surface `mesh` at `X_DM` within `reach` [m]; return it with [`NearLists::keep`].
    pub fn take(
        &mut self,
        key: Option<NearKey>,
        mesh: &Mesh,
        X_DM: &Isometry3<f64>,
        field: &impl DistanceField,
        reach: f64,
    ) -> NearList {
        self.uses += 1;
        let L = field.lipschitz();
        if key.is_some()
            && let Some(at) = self
                .lists
                .iter()
                .position(|list| list.key == key && list.holds(mesh, X_DM, L, reach))
        {
            return self.lists.swap_remove(at);
        }
        let mut list = self.recycled(key);
        let margin = if key.is_some() { MARGIN * mesh.mesh_width() } else { 0.0 };
        list.fill(mesh, X_DM, field, reach, margin);
        list
    }

    /// Keeps a list for later queries.
    pub fn keep(&mut self, mut list: NearList) {
        list.last_use = self.uses;
        self.lists.push(list);
    }

    /// Memory of a list that is not used any more: of the same pair, or the one that was used longest ago.
    fn recycled(&mut self, key: Option<NearKey>) -> NearList {
        let oldest = |lists: &[NearList], keep: &dyn Fn(&NearList) -> bool| {
            let old = (0..lists.len()).filter(|&k| keep(&lists[k]));
            old.min_by_key(|&k| lists[k].last_use)
        };
        let unkept = oldest(&self.lists, &|list| list.key.is_none());
        let at = match unkept {
            Some(at) => Some(at),
            None if self.lists.len() >= MOST_LISTS => oldest(&self.lists, &|_| true),
            None => None,
        };
        let mut list = match at {
            Some(at) => self.lists.swap_remove(at),
            None => NearList {
                key,
                X_DM: Isometry3::identity(),
                complete: 0.0,
                margin: 0.0,
                is_raw: false,
                last_use: 0,
                triangles: Vec::new(),
            },
        };
        list.key = key;
        list
    }
}

impl NearList {
    /// Whether no triangle within `reach` [m] is missing at another pose, and few others are there.
    fn holds(&self, mesh: &Mesh, X_DM: &Isometry3<f64>, L: f64, reach: f64) -> bool {
        let shift = X_DM.translation.vector - self.X_DM.translation.vector;
        // |R − R₀| = 2 sin(θ/2), twice the imaginary part of the quaternion between them.
        let between = X_DM.rotation.rotation_to(&self.X_DM.rotation);
        let moved = shift.norm() + 2.0 * between.imag().norm() * mesh.bounding_radius();
        let needed = reach + L * moved * (1.0 + ROUND_OFF);
        needed <= self.complete && reach >= self.complete - 2.0 * self.margin
    }

    fn fill(
        &mut self,
        mesh: &Mesh,
        X_DM: &Isometry3<f64>,
        field: &impl DistanceField,
        reach: f64,
        margin: f64,
    ) {
        (self.X_DM, self.complete, self.margin) = (*X_DM, reach + margin, margin);
        self.is_raw = true;
        self.triangles.clear();
        let (L, home) = (field.lipschitz(), around(&field.bounds(), self.complete));
        let R_DM = X_DM.rotation.to_rotation_matrix();
        let complete = self.complete;
        mesh.tree().visit_leaves(
            |bounds| {
                let centre = R_DM * bounds.centre() + X_DM.translation.vector;
                let radius = 0.5 * bounds.size().norm() * (1.0 + ROUND_OFF);
                home.distance_squared(&centre) <= radius * radius
                    && field.sample(&centre).value <= complete + L * radius
            },
            |t| self.triangles.push(t),
        );
    }

    /// Removes the triangles that the values at their corners exclude, once per list.
    pub fn trim(&mut self, mesh: &Mesh, known: &VertexSamples, L: f64) {
        if !std::mem::take(&mut self.is_raw) || self.key.is_none() {
            return;
        }
        let limit = self.complete * (1.0 + ROUND_OFF);
        self.triangles.retain(|&t| {
            let corners = mesh.triangles()[t as usize];
            let values = corners.map(|v| known.get(v).sample.value);
            !excludes(&mesh.corners(t), &values, L, limit)
        });
    }
}

/// Whether the values at the corners prove that a triangle has no point with a value up to `limit` [m].
///
/// Every point x = Σ wᵢ xᵢ of the triangle has a corner within the radius r of its smallest enclosing circle, because Σ wᵢ |x − xᵢ|² ≤ r²;
/// no value is thus lower than the least one at a corner by more than L r.
pub fn excludes(corners: &[Vector3<f64>; 3], values: &[f64; 3], L: f64, limit: f64) -> bool {
    let above = values.iter().fold(f64::INFINITY, |least, value| least.min(*value)) - limit;
    above > 0.0 && above * above > L * L * enclosing_radius_squared(corners) * (1.0 + ROUND_OFF)
}

/// Square of the radius of the smallest circle around a triangle [m²].
fn enclosing_radius_squared([a, b, c]: &[Vector3<f64>; 3]) -> f64 {
    let [x, y, z] = [(b - a).norm_squared(), (c - b).norm_squared(), (a - c).norm_squared()];
    let longest = x.max(y).max(z);
    if 2.0 * longest >= x + y + z {
        // Obtuse or right: the circle over the longest side.
        return 0.25 * longest;
    }
    // Sixteen times the square of the area [Heron].
    let area = 2.0 * (x * y + y * z + z * x) - (x * x + y * y + z * z);
    x * y * z / area
}
