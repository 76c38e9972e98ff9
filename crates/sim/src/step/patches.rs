//! Patches of compliant shapes at the next state, and whether they jumped.
//!
//! The law of a patch is linear in the motion of a step. Where two shapes move farther along the normal than the least half
//! extent of the smaller one, a patch forms, vanishes or turns round within a step: its motion is not resolved.

use nalgebra::Vector3;

use super::{StepContext, collision};
use crate::report::Phase;
use crate::rows::ConstraintContext;
use crate::world::World;

/// Detects the patches of the next state, whose kinematics are in the data.
pub(super) fn detect_next(step: &mut StepContext) {
    if step.world.pressure.is_empty() {
        return;
    }
    collision::detect_patches(step.world, step.scratch);
    step.scratch.patches_jump = any_jumps(step);
    step.clock.lap(Phase::Collision);
}

/// Whether shapes that touch at the start of the step or after it move too far for their patch.
fn any_jumps(step: &StepContext) -> bool {
    let StepContext { world, settings, history, scratch, .. } = step;
    let context = ConstraintContext::new(
        &world.model,
        &scratch.data,
        &scratch.free,
        history,
        &scratch.driven,
    );
    let jumps = |geoms: [usize; 2], point: &Vector3<f64>, normal: &Vector3<f64>| {
        let [v_A, v_B] = geoms.map(|geom| context.point_velocity(world.geoms[geom].body.0, point));
        settings.time_step * normal.dot(&(v_B - v_A)).abs() > least_half_extent(world, geoms)
    };
    let patches = &scratch.patch_detector;
    let any_after = patches.patches().iter().any(|patch| {
        let geoms = [patch.a.index(), patch.b.index()];
        let polygons = &patches.found().polygons[patch.polygons.clone()];
        polygons.iter().any(|polygon| jumps(geoms, &polygon.point, &polygon.normal))
    });
    let is_polygon = |row: &&crate::rows::ContactRow| row.point.area > 0.0;
    any_after
        || scratch
            .rows
            .contacts()
            .iter()
            .filter(is_polygon)
            .any(|row| jumps(row.point.geoms, &row.point.point, &row.point.normal))
}

fn least_half_extent(world: &World, geoms: [usize; 2]) -> f64 {
    geoms.map(|geom| world.thickness[geom]).into_iter().fold(f64::INFINITY, f64::min)
}
