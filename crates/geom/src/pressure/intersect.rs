//! The polygons over which two bodies touch [Elandt19, Sec. III; Masterjohn22, Sec. III].
//!
//! Compliant–compliant: per pair of overlapping tetrahedra the plane on which the two linear pressures agree, clipped by both.
//! Compliant–rigid: the rigid triangle, or plane, clipped by the tetrahedron. A polygon of area a, mean pressure p and
//! pressure gradients g_A, g_B along its normal into the two bodies is a linear contact of stiffness k = a g, 1/g = 1/g_A +
//! 1/g_B, and gap −p/g, so that its force without motion is a p. g of a rigid body is infinite.
//!
//! Deviation: the contact acts at the centre of pressure instead of the centroid, so that force and moment of a patch are the
//! integrals of the pressure over its polygons.
//! Deviation: polygons at which a pressure hardly grows inwards are kept, with a least gradient, instead of dropped. Their
//! force is that of the field, so that forces are continuous in the pose and have the energy ∫ min(p_A, p_B) dV.
//! Cost: linear in the elements near the patch, with a logarithm for the search in the trees.

use super::element::{LinearField, PressureElement};
use super::near::{self, NearElement};
use super::writer::{Interface, Writer};
use super::{PatchPolygons, Polygon, PressureBody, RigidTriangle};
use crate::Aabb;
use crate::bvh::Bvh;
use nalgebra::Isometry3;

/// A body at a pose X_WS.
#[derive(Clone, Copy, Debug)]
pub struct PosedBody<'a> {
    /// The body.
    pub body: &'a PressureBody,
    /// Its pose.
    pub pose: &'a Isometry3<f64>,
}

/// Adds the polygons between two bodies in the world, sorted by their cells. None if neither yields.
pub fn intersect(a: PosedBody, b: PosedBody, found: &mut PatchPolygons) {
    use PressureBody::{HalfSpace, Solid, Surface};
    let first = found.polygons.len();
    match (a.body, b.body) {
        (Solid { elements, tree }, _) => {
            solid_with(elements, tree, b.body, Writer::new(&a, &b, false, found));
        }
        (_, Solid { elements, tree }) => {
            solid_with(elements, tree, a.body, Writer::new(&b, &a, true, found));
        }
        (Surface { triangles, tree }, HalfSpace { gradient }) => {
            surface_in_half_space(triangles, tree, *gradient, Writer::new(&a, &b, false, found));
        }
        (HalfSpace { gradient }, Surface { triangles, tree }) => {
            surface_in_half_space(triangles, tree, *gradient, Writer::new(&b, &a, true, found));
        }
        _ => {}
    }
    found.merge(first);
}

fn solid_with(elements: &[PressureElement], tree: &Bvh, other: &PressureBody, writer: Writer<'_>) {
    match other {
        PressureBody::Solid { elements: others, tree: other_tree } => {
            solid_with_solid((elements, tree), (others, other_tree), writer);
        }
        PressureBody::Surface { triangles, tree: other_tree } => {
            solid_with_surface((elements, tree), (triangles, other_tree), writer);
        }
        PressureBody::HalfSpace { gradient } => {
            solid_with_half_space(elements, tree, Some(*gradient), writer);
        }
        PressureBody::Plane => solid_with_half_space(elements, tree, None, writer),
    }
}

/// Bounds of the first body in the frame of the second.
fn region(tree: &Bvh, writer: &Writer) -> Aabb {
    let bounds = tree.bounds();
    let inverse = writer.rotation.inverse();
    let half = inverse.matrix().abs() * (0.5 * bounds.size());
    Aabb::around(inverse * (bounds.centre() - writer.translation), half)
}

fn solid_with_solid(
    (elements, tree): (&[PressureElement], &Bvh),
    (others, other_tree): (&[PressureElement], &Bvh),
    mut writer: Writer<'_>,
) {
    let bounds_in_other = region(tree, &writer);
    let shared = near::intersection(&tree.bounds(), &writer.bounds(&other_tree.bounds()));
    let [mut near_first, mut near_second] = std::mem::take(&mut writer.found.near);
    let mut moved = std::mem::take(&mut writer.found.moved);
    near_first.clear();
    near_second.clear();
    moved.clear();
    // The common pressure of a patch is at most the largest that both bodies have where they overlap.
    let mut most = [0.0_f64; 2];
    tree.visit(&shared, |i| {
        if let Some((near, pressure)) = NearElement::new(i, &elements[i as usize], &shared) {
            near_first.push(near);
            most[0] = most[0].max(pressure);
        }
    });
    // Elements of the second body are numbered by their place among those that were moved.
    other_tree.visit(&bounds_in_other, |j| {
        let other = others[j as usize].moved(&writer.rotation, &writer.translation);
        if let Some((near, pressure)) = NearElement::new(moved.len() as u32, &other, &shared) {
            near_second.push(near);
            moved.push(other);
            most[1] = most[1].max(pressure);
        }
    });
    let pressure = most[0].min(most[1]);
    let keep = |near: &mut NearElement, element: &PressureElement| {
        let bounds = near::bounds_below(element, pressure, &shared);
        bounds.map(|bounds| near.bounds = bounds).is_some()
    };
    near_first.retain_mut(|near| keep(near, &elements[near.index as usize]));
    near_second.retain_mut(|near| keep(near, &moved[near.index as usize]));
    near::visit_pairs(&mut near_first, &near_second, |i, j| {
        solids_meet((&elements[i as usize], &moved[j as usize]), &mut writer);
    });
    (writer.found.near, writer.found.moved) = ([near_first, near_second], moved);
}

/// Whether a linear function changes its sign in an element, up to a margin.
fn is_cut(element: &PressureElement, function: &LinearField, margin: f64) -> bool {
    let (mut any_above, mut any_below) = (false, false);
    for x in element.corners() {
        let value = function.at(x);
        any_above |= value > -margin;
        any_below |= value <= margin;
    }
    any_above && any_below
}

/// Writes the polygon of two elements in one frame.
fn solids_meet((element, other): (&PressureElement, &PressureElement), writer: &mut Writer<'_>) {
    let difference = element.field.minus(&other.field);
    // The plane of equal pressures must cut both elements.
    let slope = difference.gradient.norm();
    if !is_cut(element, &difference, element.section_tolerance() * slope)
        || !is_cut(other, &difference, other.tolerance * slope)
    {
        return;
    }
    let Some(inward) = difference.gradient.try_normalize(0.0) else { return };
    let normal = -inward;
    let mut polygon = Polygon::section(element, &difference, &normal);
    if polygon.corners().is_empty() {
        return;
    }
    polygon.clip_to(other, &normal);
    if element.crosses_surface {
        polygon.clip(|x| -element.field.at(x));
    }
    let fields = [Some(element.field), Some(other.field)];
    writer.write(&polygon, &Interface { cells: [element.cell, other.cell], normal, fields });
}

fn solid_with_surface(
    (elements, tree): (&[PressureElement], &Bvh),
    (triangles, other_tree): (&[RigidTriangle], &Bvh),
    mut writer: Writer<'_>,
) {
    other_tree.visit(&region(tree, &writer), |j| {
        let triangle = &triangles[j as usize];
        let corners = triangle.corners.map(|x| writer.rotation * x + writer.translation);
        // The rigid body is the second.
        let normal = -(writer.rotation * triangle.normal);
        tree.visit(&Aabb::of_points(corners), |i| {
            let element = &elements[i as usize];
            let mut polygon = Polygon::triangle(&corners);
            polygon.clip_to(element, &normal);
            let fields = [Some(element.field), None];
            writer.write(
                &polygon,
                &Interface { cells: [element.cell, triangle.cell], normal, fields },
            );
        });
    });
}

/// A solid and a half space, which yields if it has a pressure gradient.
fn solid_with_half_space(
    elements: &[PressureElement],
    tree: &Bvh,
    gradient: Option<f64>,
    mut writer: Writer<'_>,
) {
    let (up, offset) = writer.plane();
    let lowest = |bounds: &Aabb| up.dot(&bounds.centre()) - 0.5 * up.abs().dot(&bounds.size());
    let pressure = gradient.map(|g| LinearField { gradient: -g * up, constant: g * offset });
    tree.visit_where(
        |bounds| lowest(bounds) <= offset,
        |i| {
            let element = &elements[i as usize];
            let function = match &pressure {
                Some(other) => element.field.minus(other),
                None => LinearField { gradient: up, constant: -offset },
            };
            let margin = element.section_tolerance() * function.gradient.norm();
            if !is_cut(element, &function, margin) {
                return;
            }
            let Some(inward) = function.gradient.try_normalize(0.0) else { return };
            let normal = -inward;
            let mut polygon = Polygon::section(element, &function, &normal);
            if element.crosses_surface {
                polygon.clip(|x| -element.field.at(x));
            }
            let fields = [Some(element.field), pressure];
            writer.write(&polygon, &Interface { cells: [element.cell, 0], normal, fields });
        },
    );
}

/// A rigid surface, the first body, in a compliant half space.
fn surface_in_half_space(
    triangles: &[RigidTriangle],
    tree: &Bvh,
    gradient: f64,
    mut writer: Writer<'_>,
) {
    let (up, offset) = writer.plane();
    let lowest = |bounds: &Aabb| up.dot(&bounds.centre()) - 0.5 * up.abs().dot(&bounds.size());
    let field = LinearField { gradient: -gradient * up, constant: gradient * offset };
    tree.visit_where(
        |bounds| lowest(bounds) <= offset,
        |i| {
            let triangle = &triangles[i as usize];
            let mut polygon = Polygon::triangle(&triangle.corners);
            polygon.clip(|x| up.dot(x) - offset);
            let fields = [None, Some(field)];
            let normal = triangle.normal;
            writer.write(&polygon, &Interface { cells: [triangle.cell, 0], normal, fields });
        },
    );
}
