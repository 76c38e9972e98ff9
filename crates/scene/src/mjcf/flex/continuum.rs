//! A flexcomp with elasticity: a soft body of tetrahedra, or a cable.
//!
//! Deviations: a soft body has the mass of its elements, not equal masses of its points, and its surface is that of
//! the elements, without the radius; a cable stretches by its elasticity, and its segments are of equal length.

use nalgebra::Vector3;
use stiction_geom::Groups;
use stiction_mech::{BodyId, Material, SoftSpec};
use stiction_sim::constraint::{Connect, Equality};
use stiction_sim::{CableCourse, CableEnd, CableSpec, SoftObject};

use super::super::build::Build;
use super::super::surface;
use super::{Elasticity, FlexRead};
use crate::error::SceneError;

/// Material of small strains and large rotations, as MuJoCo's is meant for.
const MATERIAL: &str = "corotational";

/// Groups of what touches nothing.
const NO_COLLISION: Groups = Groups { category: 0, mask: 0 };

fn groups(build: &Build, read: &FlexRead) -> Groups {
    if build.flags.contact { surface::groups(&read.contact) } else { NO_COLLISION }
}

/// Adds a soft body; pinned vertices are fixed, or attached to a holder that moves.
pub(super) fn soft(
    build: &mut Build,
    read: &FlexRead,
    holder: BodyId,
    fixed: bool,
) -> Result<(), SceneError> {
    let corners = read.corners.chunks_exact(4);
    let tetrahedra: Vec<[u32; 4]> = corners.map(|c| [c[0], c[1], c[2], c[3]]).collect();
    let volume: f64 = tetrahedra.iter().map(|t| volume(&read.points, t)).sum();
    let Elasticity { young, poisson, damping, .. } = read.elasticity;
    let material = Material::from_name(MATERIAL, &[young, poisson])
        .ok_or_else(|| read.element.error("no material of two parameters"))?;
    material.check().map_err(|fault| read.element.error(fault))?;
    let density = read.mass / volume;
    let mut spec = SoftSpec::new(read.points.clone(), tetrahedra, material, density);
    spec.name.clone_from(&read.name);
    spec.stiffness_damping = damping;
    let pinned: Vec<u32> = read.pinned.iter().copied().collect();
    if fixed {
        spec.fixed.clone_from(&pinned);
    }
    let mut object = SoftObject::new(spec);
    object.surface = read.surface();
    object.groups = groups(build, read);
    object.touches_itself = read.touches_itself;
    object.colour = read.colour;
    object.margin = (read.contact.margin + read.contact.gap).max(0.0);
    let soft = build.world.soft(object);
    if !fixed && !pinned.is_empty() {
        build.world.attach(soft, &pinned, holder);
    }
    build.note("flexcomp: a soft body; its vertices are not among the joints");
    Ok(())
}

fn volume(points: &[Vector3<f64>], tetrahedron: &[u32; 4]) -> f64 {
    let [a, b, c, d] = tetrahedron.map(|corner| points[corner as usize]);
    ((b - a).cross(&(c - a)).dot(&(d - a)) / 6.0).abs()
}

/// Adds a cable; where two pinned points follow one another at an end it is clamped there, and other pinned
/// points are connected to the holder.
pub(super) fn cable(build: &mut Build, read: &FlexRead, holder: BodyId) -> Result<(), SceneError> {
    let points = &read.points;
    let Some(last) = (points.len() as u32).checked_sub(1) else { return Ok(()) };
    let consecutive = read.corners.chunks_exact(2).enumerate();
    let open = consecutive.clone().all(|(k, ends)| ends == [k as u32, k as u32 + 1]);
    if !open || read.corners.len() != 2 * last as usize || last == 0 {
        let what = "<flexcomp> elasticity of lines that are no chain";
        build.report_unsupported(&read.element.place, what);
        return Ok(());
    }
    let length: f64 = points.windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum();
    let area = std::f64::consts::PI * read.radius * read.radius;
    let Elasticity { young, poisson, shear, damping } = read.elasticity;
    let is_pinned = |k: u32| read.pinned.contains(&k);
    let clamped = [is_pinned(0) && is_pinned(1), is_pinned(last) && is_pinned(last - 1)];
    // MuJoCo's hinge at the inner point of a clamped edge bends like the halves of the edges at both its sides:
    // the cable begins in the middle of the clamped edge.
    let mut course = points.clone();
    if clamped[0] {
        course[0] = 0.5 * (points[0] + points[1]);
    }
    if clamped[1] {
        course[last as usize] = 0.5 * (points[last as usize] + points[last as usize - 1]);
    }
    let end = |clamped: bool| if clamped { CableEnd::Held(holder) } else { CableEnd::Free };
    let spec = CableSpec {
        name: read.name.clone(),
        course: CableCourse::Path(course),
        segments: last as usize,
        radius: read.radius,
        density: read.mass / (area * length),
        young,
        // The shear modulus is E / (2 (1 + ν)).
        poisson: if shear > 0.0 {
            (young / (2.0 * shear) - 1.0).clamp(-0.99, 0.5)
        } else {
            poisson
        },
        damping,
        rest: stiction_mech::RodRest::AsBuilt,
        surface: read.surface(),
        groups: groups(build, read),
        colour: read.colour,
        ends: clamped.map(end),
        ..CableSpec::default()
    };
    let first = build.world.mechanism.declared().bodies.len();
    build.world.cable(spec);
    let declared = build.world.mechanism.declared().bodies;
    let poses: Vec<_> = declared[first..].iter().map(|body| body.pose).collect();
    let holder_pose = build.bodies.items()[holder.0].pose;
    for &k in &read.pinned {
        let of_clamp = (clamped[0] && k <= 1) || (clamped[1] && k + 1 >= last);
        let segment = (k as usize).min(poses.len().saturating_sub(1));
        let (Some(pose), false) = (poses.get(segment), of_clamp) else { continue };
        let point = nalgebra::Point3::from(points[k as usize]);
        let connect = Connect {
            body_a: holder,
            point_a: holder_pose.inverse_transform_point(&point).coords,
            body_b: BodyId(first + segment),
            point_b: pose.inverse_transform_point(&point).coords,
        };
        build.world.equality("", Equality::Connect(connect));
    }
    build.note("flexcomp: a cable; its segments are bodies of their own");
    Ok(())
}
