//! Positions of the force rows of a model, and lists of joints with springs, friction or limits.
//!
//! Computed once per model. The first rows are the single velocities, one entry each; then come the
//! tendons, the rotation axes of limited ball joints, the actuators that act on a body and drag.

use super::drive::{ForceRow, RowEntry};
use super::relative_dofs::for_each_relative_dof;
use super::scalar_actuator::ScalarActuator;
use crate::actuator::ResolvedTransmission;
use crate::body::BodyId;
use crate::joint::{JointKind, Limit};
use crate::model::Model;
use nalgebra::Vector3;

/// A range of one scalar coordinate, or of the angle of a ball joint.
#[derive(Clone, Debug)]
pub(crate) struct JointRange {
    pub(crate) joint: usize,
    /// Index of the velocity within the joint.
    pub(crate) component: usize,
    /// Index of the coordinate or of the quaternion in q.
    pub(crate) q: usize,
    pub(crate) is_rotation: bool,
    pub(crate) row: ForceRow,
    pub(crate) limit: Limit,
}

/// Dry friction of one velocity.
#[derive(Clone, Debug)]
pub(crate) struct JointFriction {
    pub(crate) dof: usize,
    pub(crate) loss: f64,
}

/// The constant data of a model that the evaluation of its forces uses.
#[derive(Clone, Debug)]
pub(crate) struct ForceLayout {
    /// Whether any force can contribute to the diagonals of stiffness and damping.
    pub(crate) has_slopes: bool,
    /// Joints with a spring.
    pub(crate) springs: Vec<usize>,
    /// Damping; per dof.
    pub(crate) damping: Vec<f64>,
    pub(crate) frictions: Vec<JointFriction>,
    pub(crate) ranges: Vec<JointRange>,
    /// Whether any body has gravity compensation.
    pub(crate) has_compensation: bool,
    /// Row of each tendon.
    pub(crate) tendons: Vec<ForceRow>,
    /// Row of each actuator.
    pub(crate) actuators: Vec<ForceRow>,
    /// Constants of the actuators on one coordinate with a linear law; per actuator.
    pub(crate) scalar_actuators: Vec<Option<ScalarActuator>>,
    /// Drag rows of each body: about three axes and along them.
    pub(crate) drags: Vec<[ForceRow; 6]>,
    /// Per actuator: its relation to the force ranges of joints.
    pub(crate) shares: Vec<RangeSharing>,
    /// Velocities with a force range that several actuators share, ascending, with the ends of the
    /// range.
    pub(crate) shared_ranges: Vec<(usize, f64, f64)>,
}

/// Relation of an actuator to the force ranges of the joints that it acts on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RangeSharing {
    /// None of the joints has a force range.
    NoRange,
    /// The actuator acts on a single joint with this range [N, N·m], and no other actuator does.
    Exclusive { lower: f64, upper: f64 },
    /// Other actuators act on the same joint, or the actuator acts on other joints as well.
    Shared,
}

impl ForceLayout {
    /// The layout, and all entries with the constant coefficients filled in.
    pub(crate) fn new(model: &Model) -> (Self, Vec<RowEntry>) {
        let unit = |dof| RowEntry { dof, coefficient: 1.0 };
        let mut entries: Vec<RowEntry> = (0..model.nv()).map(unit).collect();
        let mut append = |dofs: &mut dyn Iterator<Item = usize>| {
            let start = entries.len();
            entries.extend(dofs.map(|dof| RowEntry { dof, coefficient: 0.0 }));
            ForceRow { start, end: entries.len() }
        };
        let tendons: Vec<ForceRow> =
            model.tendons().iter().map(|t| append(&mut t.dofs.iter().copied())).collect();

        let mut layout = Self {
            has_slopes: false,
            springs: Vec::new(),
            damping: vec![0.0; model.nv()],
            frictions: Vec::new(),
            ranges: Vec::new(),
            has_compensation: false,
            tendons,
            actuators: Vec::new(),
            scalar_actuators: Vec::new(),
            drags: Vec::new(),
            shares: Vec::new(),
            shared_ranges: Vec::new(),
        };
        for (index, joint) in model.joints().iter().enumerate() {
            let Some(limit) = joint.spec.limit else { continue };
            let range = |component, q, is_rotation, row| JointRange {
                joint: index,
                component,
                q,
                is_rotation,
                row,
                limit,
            };
            if joint.spec.kind == JointKind::Ball {
                let row = append(&mut joint.dofs.clone());
                layout.ranges.push(range(0, joint.q.start, true, row));
            } else if joint.quaternion().is_none() {
                for (k, dof) in joint.dofs.clone().enumerate() {
                    layout.ranges.push(range(k, joint.q.start + k, false, of_dof(dof)));
                }
            }
        }
        for actuator in model.actuators() {
            layout.actuators.push(match actuator.resolved {
                ResolvedTransmission::Scalar { dof, .. }
                | ResolvedTransmission::Rotation { dof, .. } => of_dof(dof),
                ResolvedTransmission::JointWrench(wrench) => {
                    append(&mut model.joints()[wrench.joint.0].dofs.clone())
                }
                ResolvedTransmission::Tendon(tendon) => layout.tendons[tendon],
                ResolvedTransmission::Sites(pair) => append(
                    &mut relative_dofs(model, pair.reference.body, pair.site.body).into_iter(),
                ),
                ResolvedTransmission::SliderCrank(pair) => {
                    append(&mut relative_dofs(model, pair.slider.body, pair.crank.body).into_iter())
                }
                ResolvedTransmission::Contacts => append(&mut std::iter::empty()),
                ResolvedTransmission::Body { body, .. } => append(&mut dofs_of_body(model, body)),
            });
        }
        for drag in model.drags() {
            layout.drags.push([(); 6].map(|()| append(&mut dofs_of_body(model, drag.body))));
        }
        layout.find_shared_ranges(model, &entries);
        layout.update_parameters(model);
        (layout, entries)
    }

    /// Sets what follows from the parameters of joints and actuators and from masses, which may change while a model
    /// is simulated. Which rows there are does not depend on them.
    pub(crate) fn update_parameters(&mut self, model: &Model) {
        self.has_slopes = !model.tendons().is_empty() || !model.actuators().is_empty();
        self.springs.clear();
        self.frictions.clear();
        for (index, joint) in model.joints().iter().enumerate() {
            let spec = &joint.spec;
            self.has_slopes |=
                spec.stiffness > 0.0 || spec.damping > 0.0 || spec.friction_loss > 0.0;
            self.damping[joint.dofs.clone()].fill(spec.damping);
            if spec.stiffness > 0.0 {
                self.springs.push(index);
            }
            if spec.friction_loss > 0.0 {
                let friction = |dof| JointFriction { dof, loss: spec.friction_loss };
                self.frictions.extend(joint.dofs.clone().map(friction));
            }
        }
        for range in &mut self.ranges {
            if let Some(limit) = model.joints()[range.joint].spec.limit {
                range.limit = limit;
            }
        }
        self.has_compensation = model.links().iter().any(|link| {
            link.compensated_mass != 0.0 || link.compensated_moment != Vector3::zeros()
        });
        let shares = self.shares.iter().copied();
        self.scalar_actuators.clear();
        self.scalar_actuators.extend(
            (model.actuators().iter().zip(shares))
                .map(|(actuator, sharing)| ScalarActuator::new(actuator, sharing)),
        );
    }

    /// The force range of a velocity, if several actuators share it.
    #[inline]
    pub(crate) fn shared_range(&self, dof: usize) -> Option<(f64, f64)> {
        let index = self.shared_ranges.binary_search_by_key(&dof, |range| range.0).ok()?;
        let (_, lower, upper) = self.shared_ranges[index];
        Some((lower, upper))
    }

    /// Determines which actuators share the force ranges of joints.
    fn find_shared_ranges(&mut self, model: &Model, entries: &[RowEntry]) {
        let (nv, rows) = (model.nv(), &self.actuators);
        let mut range = vec![None; nv];
        for joint in model.joints() {
            range[joint.dofs.clone()].fill(joint.spec.actuator_force_range);
        }
        let mut count = vec![0_usize; nv];
        for row in rows {
            row.of(entries).iter().for_each(|entry| count[entry.dof] += 1);
        }
        self.shares = rows
            .iter()
            .map(|row| match *row.of(entries) {
                // The rows of single velocities come first and have unit coefficients.
                [RowEntry { dof, .. }] if row.start < nv && count[dof] == 1 => {
                    range[dof].map_or(RangeSharing::NoRange, |(lower, upper)| {
                        RangeSharing::Exclusive { lower, upper }
                    })
                }
                ref row if row.iter().any(|entry| range[entry.dof].is_some()) => {
                    RangeSharing::Shared
                }
                _ => RangeSharing::NoRange,
            })
            .collect();
        for (row, share) in rows.iter().zip(&self.shares) {
            if *share != RangeSharing::Shared {
                continue;
            }
            for entry in row.of(entries) {
                if let Some((lower, upper)) = range[entry.dof] {
                    self.shared_ranges.push((entry.dof, lower, upper));
                }
            }
        }
        self.shared_ranges.sort_by_key(|range| range.0);
        self.shared_ranges.dedup_by_key(|range| range.0);
    }
}

/// The velocities that move one of two bodies and not the other, in the order in which they are visited.
fn relative_dofs(model: &Model, a: BodyId, b: BodyId) -> Vec<usize> {
    let mut dofs = Vec::new();
    for_each_relative_dof(model, a, b, |dof, _, _| dofs.push(dof));
    dofs
}

/// The velocities that move a body, from the body to the root.
fn dofs_of_body(model: &Model, body: BodyId) -> impl Iterator<Item = usize> + '_ {
    let tree = model.tree(body).map(|tree| &model.trees()[tree]);
    let start = tree.map_or(0, |tree| tree.dofs.start);
    let parent = move |dof: &usize| Some(start + model.dof_parents()[*dof]? as usize);
    std::iter::successors(model.last_dof(body), parent)
}

/// The row of one velocity.
#[inline]
pub(crate) fn of_dof(dof: usize) -> ForceRow {
    ForceRow { start: dof, end: dof + 1 }
}
