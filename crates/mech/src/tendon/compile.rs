//! Compiles the declaration of a tendon for a model: checks, numbering, sparsity.

use super::path::{TendonPath, TendonSite, Waypoint, WrapSurface};
use super::{Tendon, TendonRest, TendonSpec, Term};
use crate::body::BodyId;
use crate::data::Data;
use crate::force::error::{ForceError, SpecCheck};
use crate::force::relative_dofs::for_each_relative_dof;
use crate::joint::{Joint, JointId};
use crate::model::Model;
use crate::spring::DeadBand;

impl TendonSpec {
    fn check(&self) -> Result<(), ForceError> {
        let check = SpecCheck { what: "tendon", name: &self.name };
        check.not_negative("stiffness", self.stiffness)?;
        check.not_negative("damping", self.damping)?;
        check.not_negative("friction loss", self.friction_loss)?;
        check.not_negative("armature", self.armature)?;
        let wraps = |path: &TendonPath| match path {
            TendonPath::Fixed(_) => false,
            TendonPath::Spatial(path) => path.iter().any(|at| matches!(at, Waypoint::Wrap(_))),
        };
        if wraps(&self.path) {
            let expected = "zero for a tendon that wraps around a surface";
            check.require(self.armature == 0.0, "armature", self.armature, expected)?;
        }
        match self.rest {
            TendonRest::Reference => {}
            TendonRest::Length(length) => check.finite("rest length", length)?,
            TendonRest::Band(DeadBand { lower, upper }) => {
                check.range("dead band", (lower, upper))?
            }
        }
        if let Some(range) = self.actuator_force_range {
            check.range("range of actuator forces", range)?;
        }
        if let Some(limit) = self.limit {
            check.range("limit", (limit.lower, limit.upper))?;
            check.not_negative("limit's margin", limit.margin)?;
        }
        match &self.path {
            TendonPath::Fixed(terms) => {
                check.require(!terms.is_empty(), "number of joints", 0.0, "at least one")?;
                terms.iter().try_for_each(|(_, c)| check.finite("coefficient", *c))
            }
            TendonPath::Spatial(path) => check_path(&check, path),
        }
    }

    /// Replaces ids of the builder by those of the model.
    fn renumber(&mut self, model: &Model) -> Result<(), ForceError> {
        let check = SpecCheck { what: "tendon", name: &self.name };
        match &mut self.path {
            TendonPath::Fixed(terms) => {
                terms.iter_mut().try_for_each(|(joint, _)| renumber_joint(model, &check, joint))
            }
            TendonPath::Spatial(path) => path.iter_mut().try_for_each(|waypoint| match waypoint {
                Waypoint::Site(TendonSite { body, .. }) => renumber_body(model, &check, body),
                Waypoint::Wrap(WrapSurface { body, side, .. }) => {
                    renumber_body(model, &check, body)?;
                    side.iter_mut()
                        .try_for_each(|side| renumber_body(model, &check, &mut side.body))
                }
                Waypoint::Pulley { .. } => Ok(()),
            }),
        }
    }
}

/// Replaces a body's id of the builder by that of the model.
pub(crate) fn renumber_body(
    model: &Model,
    check: &SpecCheck<'_>,
    body: &mut BodyId,
) -> Result<(), ForceError> {
    check.known("body", body.0, model.bodies().len())?;
    *body = model.body_of_builder(*body).unwrap_or(*body);
    Ok(())
}

/// Replaces a joint's id of the builder by that of the model.
pub(crate) fn renumber_joint(
    model: &Model,
    check: &SpecCheck<'_>,
    joint: &mut JointId,
) -> Result<(), ForceError> {
    check.known("joint", joint.0, model.joints().len())?;
    *joint = model.joint_of_builder(*joint).unwrap_or(*joint);
    Ok(())
}

/// The joint of this id, if it has one velocity.
pub(crate) fn scalar_joint<'a>(
    model: &'a Model,
    check: &SpecCheck<'_>,
    id: JointId,
) -> Result<&'a Joint, ForceError> {
    let joint = &model.joints()[id.0];
    if joint.dofs.len() == 1 {
        return Ok(joint);
    }
    Err(ForceError::NotScalar {
        who: check.who(),
        joint: joint.spec.name.clone(),
        kind: joint.spec.kind.entry().name,
        dofs: joint.dofs.len(),
    })
}

/// Checks that every branch begins and ends at a site, has at least two sites, and has surfaces only
/// between sites.
fn check_path(check: &SpecCheck<'_>, path: &[Waypoint]) -> Result<(), ForceError> {
    let is_site = |index: usize| matches!(path.get(index), Some(Waypoint::Site(_)));
    let error =
        |index, found, expected| Err(ForceError::Path { who: check.who(), index, found, expected });
    let sites = path.iter().filter(|waypoint| matches!(waypoint, Waypoint::Site(_))).count();
    check.require(sites >= 2, "number of sites", sites as f64, "at least two")?;
    for (index, waypoint) in path.iter().enumerate() {
        let before_is_site = index > 0 && is_site(index - 1);
        match waypoint {
            Waypoint::Site(site) => {
                site.point.iter().try_for_each(|x| check.finite("site", *x))?;
                let continues_before =
                    index > 0 && !matches!(path[index - 1], Waypoint::Pulley { .. });
                let continues_after =
                    matches!(path.get(index + 1), Some(Waypoint::Site(_) | Waypoint::Wrap(_)));
                if !continues_before && !continues_after {
                    return error(index, "a site alone in its branch", "another site after it");
                }
            }
            Waypoint::Wrap(surface) => {
                check.positive("radius", surface.radius)?;
                let translation = surface.pose.translation.vector;
                translation.iter().try_for_each(|x| check.finite("surface's pose", *x))?;
                let rotation = surface.pose.rotation.coords;
                rotation.iter().try_for_each(|x| check.finite("surface's pose", *x))?;
                if let Some(side) = surface.side {
                    side.point.iter().try_for_each(|x| check.finite("side of the surface", *x))?;
                }
                if !before_is_site || !is_site(index + 1) {
                    return error(index, "a surface", "a site before and after it");
                }
            }
            Waypoint::Pulley { divisor } => {
                check.positive("divisor", *divisor)?;
                // A pulley at the start scales the first branch.
                if !(before_is_site || index == 0) || !is_site(index + 1) {
                    return error(index, "a pulley", "a site before and after it");
                }
            }
        }
    }
    Ok(())
}

/// Checks a declaration and compiles it; `reference` holds the poses at the reference configuration.
pub(crate) fn compile(
    model: &Model,
    mut spec: TendonSpec,
    reference: &Data,
) -> Result<Tendon, ForceError> {
    spec.check()?;
    spec.renumber(model)?;
    let check = SpecCheck { what: "tendon", name: &spec.name };
    let (mut terms, mut dofs) = (Vec::new(), Vec::new());
    match &spec.path {
        TendonPath::Fixed(sum) => {
            for &(id, coefficient) in sum {
                let joint = scalar_joint(model, &check, id)?;
                let (q, dof) = (joint.q.start, joint.dofs.start);
                terms.push(Term { q, dof, coefficient });
                dofs.push(dof);
            }
        }
        TendonPath::Spatial(path) => {
            for (a, b) in strands(path) {
                for_each_relative_dof(model, a, b, |dof, _, _| dofs.push(dof));
            }
        }
    }
    dofs.sort_unstable();
    dofs.dedup();
    let rest = spec.rest;
    let slack = DeadBand::at(0.0);
    let mut tendon = Tendon { spec, reference_length: 0.0, slack, dofs, terms };
    tendon.reference_length = tendon.length(model, model.q0(), reference);
    tendon.slack = match rest {
        TendonRest::Reference => DeadBand::at(tendon.reference_length),
        TendonRest::Length(length) => DeadBand::at(length),
        TendonRest::Band(band) => band,
    };
    Ok(tendon)
}

/// Bodies at the two ends of each segment of a path.
fn strands(path: &[Waypoint]) -> impl Iterator<Item = (BodyId, BodyId)> + '_ {
    let body = |waypoint: &Waypoint| match waypoint {
        Waypoint::Site(site) => Some(site.body),
        Waypoint::Wrap(surface) => Some(surface.body),
        Waypoint::Pulley { .. } => None,
    };
    path.windows(2).filter_map(move |pair| Some((body(&pair[0])?, body(&pair[1])?)))
}
