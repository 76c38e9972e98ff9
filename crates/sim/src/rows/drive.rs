//! Rows of bounded or coupled forces: implicit spring-dampers that saturate, and dry friction of
//! joints and tendons, which may be soft as in MuJoCo ([`SoftLaw`]).

use stiction_mech::{ActuatorId, Drive, DriveKind, Forces, SoftLaw, SoftRowError, TendonId};
use stiction_solve::law::{Bounded, Law};

use super::{ConstraintClass, ConstraintContext, ConstraintKey, RowBuilder, RowParameters};
use crate::world::World;

/// Adds the rows of the drives.
pub(crate) fn add_rows(
    world: &World,
    parameters: &RowParameters,
    forces: &Forces,
    context: &ConstraintContext,
    rows: &mut RowBuilder,
) {
    let h = parameters.time_step;
    for drive in &forces.drives {
        let Drive { row, lower, upper, .. } = *drive;
        let Some(law) = Bounded::new(h * lower, h * upper) else { continue };
        let (compliance, bias) = drive.compliance(h);
        let (a, b) = key_of(drive.kind);
        let key = ConstraintKey { class: ConstraintClass::Drive, a, b, feature: 0, row: 0 };
        rows.open(key, Law::Bounded(law), 0.0, &[bias], &[compliance]);
        if let Some((law, weight)) = friction_softness(world, drive.kind) {
            let error = SoftRowError { position: 0.0, size: 0.0, velocity: drive.rate };
            rows.set_soft(
                law.row(error, weight, parameters.law_steps()),
                drive.rate,
                parameters.alpha,
            );
        }
        for entry in row.of(&forces.entries) {
            rows.add_dof(context, entry.dof, entry.coefficient);
        }
        rows.close();
    }
}

/// Softness of dry friction and the inverse inertia along it [1/kg, 1/(kg·m²)]; `None` if it is exact.
fn friction_softness(world: &World, kind: DriveKind) -> Option<(SoftLaw, f64)> {
    // Computed only for what is soft.
    let (joints, weights) = (world.model.joints(), || world.inverse_weights());
    match kind {
        DriveKind::JointFriction(dof) => {
            let joint = joints.partition_point(|joint| joint.dofs.end <= dof);
            Some((joints.get(joint)?.spec.friction_softness?, weights().dof[dof]))
        }
        DriveKind::TendonFriction(tendon) => {
            let spec = &world.model.tendons()[tendon.0].spec;
            Some((spec.friction_softness?, weights().tendon[tendon.0]))
        }
        DriveKind::Servo(_) | DriveKind::TendonSpring(_) => None,
    }
}

/// Ascending in the order in which drives are listed.
fn key_of(kind: DriveKind) -> (u32, u32) {
    match kind {
        DriveKind::TendonSpring(tendon) => (2 * tendon.0 as u32, 0),
        DriveKind::TendonFriction(tendon) => (2 * tendon.0 as u32, 1),
        DriveKind::Servo(actuator) => (u32::MAX - 1, actuator.0 as u32),
        DriveKind::JointFriction(dof) => (u32::MAX, dof as u32),
    }
}

/// The drive of a row; `None` for other constraints.
pub(crate) fn kind_of(key: &ConstraintKey) -> Option<DriveKind> {
    const SERVO: u32 = u32::MAX - 1;
    if key.class != ConstraintClass::Drive {
        return None;
    }
    let index = key.b as usize;
    Some(match (key.a, key.b) {
        (u32::MAX, _) => DriveKind::JointFriction(index),
        (SERVO, _) => DriveKind::Servo(ActuatorId(index)),
        (tendon, 0) => DriveKind::TendonSpring(TendonId(tendon as usize / 2)),
        (tendon, _) => DriveKind::TendonFriction(TendonId(tendon as usize / 2)),
    })
}

/// The tendon along which a limit or dry friction acts, with the sign of its force.
pub(crate) fn tendon_of(key: &ConstraintKey) -> Option<(usize, f64)> {
    let servos = key_of(DriveKind::Servo(ActuatorId(0))).0;
    match (key.class, key.a, key.b) {
        (ConstraintClass::Limit, 0, tendon) => {
            Some((tendon as usize, if key.feature == 0 { 1.0 } else { -1.0 }))
        }
        (ConstraintClass::Drive, a, 1) if a < servos => Some((a as usize / 2, 1.0)),
        _ => None,
    }
}
