//! `<flexcomp>`: soft bodies, cables, and nets of point masses.
//!
//! One with elasticity becomes a soft body of tetrahedra or a cable of this project; its state is not among the
//! joints, as it is in MuJoCo. One without becomes what it is in MuJoCo: a body with three slides for each point
//! that is not pinned, edges of constant length or springs between them; its points touch as balls. What does not map
//! is listed: shells with elasticity, shapes with radial freedom, closed cables, plasticity, plugins.

mod continuum;
mod net;
mod points;

use std::collections::BTreeSet;

use nalgebra::Vector3;
use stiction_mech::BodyId;
use stiction_sim::Surface;

use super::asset;
use super::body::{OpenBody, TreeDraft};
use super::build::{Build, ContactTerms};
use super::frame::BodyChild;
use super::{orientation, surface};
use crate::error::SceneError;
use crate::xml::Element;

/// Default radius [m].
const RADIUS: f64 = 0.005;

/// Points of one flexcomp, at most.
const MOST_POINTS: usize = 200_000;

/// A flexcomp of the file; points are in the frame of the body that holds it.
#[derive(Debug)]
pub(super) struct FlexRead {
    element: Element,
    name: String,
    dim: usize,
    points: Vec<Vector3<f64>>,
    /// Corners of the elements, `dim + 1` each.
    corners: Vec<u32>,
    pinned: BTreeSet<u32>,
    mass: f64,
    radius: f64,
    edge: EdgeTerms,
    elasticity: Elasticity,
    contact: ContactTerms,
    touches_itself: bool,
    colour: [f32; 4],
}

#[derive(Clone, Copy, Debug, Default)]
struct EdgeTerms {
    constant: bool,
    stiffness: f64,
    damping: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Elasticity {
    young: f64,
    poisson: f64,
    shear: f64,
    damping: f64,
}

/// A soft body or a cable that waits until the body that holds it is declared.
#[derive(Debug)]
pub(super) struct FlexDraft {
    read: FlexRead,
    holder: BodyId,
    /// Whether the holder never moves.
    fixed: bool,
}

/// Reads a flexcomp of a body; point masses become bodies at once, the rest is kept for [`declare`].
pub(super) fn read(
    build: &mut Build,
    draft: &mut TreeDraft,
    found: &BodyChild,
    here: OpenBody,
) -> Result<(), SceneError> {
    let element = found.element;
    if let Some(what) = unsupported(element)? {
        build.report_unsupported(&element.place, format!("<flexcomp> {what}"));
        return Ok(());
    }
    let mut read = FlexRead::read(build, element)?;
    for point in &mut read.points {
        *point = (found.frame * nalgebra::Point3::from(*point)).coords;
    }
    let elastic = read.elasticity.young > 0.0;
    if !elastic || read.dim == 2 {
        return net::declare(build, draft, &read, here);
    }
    // In the frame of the world, at the reference configuration.
    for point in &mut read.points {
        *point = (here.pose * nalgebra::Point3::from(*point)).coords;
    }
    let (holder, fixed) = (BodyId(here.id), here.link == 0 && !draft.bodies[here.id].spec.driven);
    draft.flexes.push(FlexDraft { read, holder, fixed });
    Ok(())
}

/// Adds soft bodies and cables to the world, whose bodies are declared.
pub(super) fn declare(build: &mut Build, drafts: Vec<FlexDraft>) -> Result<(), SceneError> {
    for FlexDraft { read, holder, fixed } in drafts {
        match read.dim {
            3 => continuum::soft(build, &read, holder, fixed)?,
            _ => continuum::cable(build, &read, holder)?,
        }
    }
    Ok(())
}

/// The reason for which a flexcomp is left out, if there is one.
fn unsupported(element: &Element) -> Result<Option<&'static str>, SceneError> {
    let kind = element.get("type").unwrap_or("grid");
    let elasticity = element.child("elasticity");
    let young = elasticity.map_or(Ok(None), |found| found.number("young"))?.unwrap_or(0.0);
    let dim = element.integer("dim")?.unwrap_or(2);
    let constant = element.child("edge").and_then(|edge| edge.peek("equality")) == Some("true");
    let shell = elasticity.and_then(|found| found.peek("elastic2d")).is_some_and(|w| w != "none");
    let flat = dim == 2 || kind == "mesh" && dim != 3;
    Ok(if ["box", "cylinder", "ellipsoid", "disc"].contains(&kind) {
        Some("type: shells of points that move in and out")
    } else if ["radial", "2d"].contains(&element.peek("dof").unwrap_or("full")) {
        Some("dof: points with less than three degrees of freedom")
    } else if element.boolean("rigid")? == Some(true) {
        Some("rigid")
    } else if element.child("plugin").is_some() {
        Some("plugin")
    } else if young > 0.0 && shell && flat && !constant {
        Some("elasticity of shells")
    } else if young > 0.0 && kind == "circle" {
        Some("elasticity of closed cables")
    } else if constant && dim != 1 && kind != "circle" {
        // More lengths than the points have degrees of freedom, and none across a flat sheet.
        Some("edge equality of sheets and solids")
    } else {
        None
    })
}

impl FlexRead {
    fn read(build: &mut Build, element: &Element) -> Result<Self, SceneError> {
        for seen in ["flatskin", "group", "texcoord", "inertiabox", "cellcount"] {
            element.get(seen);
        }
        let name = element.require("name")?.to_owned();
        if ["trilinear", "quadratic"].contains(&element.get("dof").unwrap_or_default()) {
            build.note("<flexcomp> dof: all points move, not only those of a coarse grid");
        }
        let mesh = points::read(build, element)?;
        if mesh.points.len() > MOST_POINTS {
            let found = mesh.points.len();
            return Err(
                element.error(format_args!("{found} points; expected at most {MOST_POINTS}"))
            );
        }
        let pose = orientation::pose(element, build.compiler(element))?;
        let place = |point: &Vector3<f64>| (pose * nalgebra::Point3::from(*point)).coords;
        let mut read = Self {
            pinned: points::pinned(element, &mesh)?,
            points: mesh.points.iter().map(place).collect(),
            corners: mesh.corners,
            dim: mesh.dim,
            mass: positive(element, "mass")?.unwrap_or(1.0),
            radius: positive(element, "radius")?.unwrap_or(RADIUS),
            edge: EdgeTerms::default(),
            elasticity: Elasticity::default(),
            contact: ContactTerms::default(),
            touches_itself: true,
            colour: colour(build, element)?,
            element: element.clone(),
            name,
        };
        read.parts(build)?;
        Ok(read)
    }

    /// Reads the children.
    fn parts(&mut self, build: &mut Build) -> Result<(), SceneError> {
        if let Some(edge) = self.element.child("edge") {
            let words = [("false", false), ("true", true), ("strain", true)];
            self.edge.constant = edge.choice("equality", &words)?.unwrap_or(false);
            self.edge.stiffness = edge.number("stiffness")?.unwrap_or(0.0);
            self.edge.damping = edge.number("damping")?.unwrap_or(0.0);
            if edge.peek("equality") == Some("strain") && self.elasticity.young == 0.0 {
                build.note("<edge> equality=\"strain\": edges keep their lengths");
            }
            for soft in ["solref", "solimp"] {
                if edge.get(soft).is_some() {
                    build.report_unsupported(&edge.place, format!("<edge> {soft} of a flexcomp"));
                }
            }
        }
        if let Some(found) = self.element.child("elasticity") {
            self.elasticity = Elasticity {
                young: found.number("young")?.unwrap_or(0.0),
                poisson: found.number("poisson")?.unwrap_or(0.0),
                shear: found.number("shear")?.unwrap_or(0.0),
                damping: found.number("damping")?.unwrap_or(0.0),
            };
            for seen in ["thickness", "elastic2d", "sectionsize"] {
                found.get(seen);
            }
            let plastic = found.numbers("yield")?.is_some_and(|x| x.iter().any(|x| *x != 0.0));
            if plastic {
                build.report_unsupported(&found.place, "<elasticity> yield: plasticity");
            }
            if found.get("section") == Some("box") {
                build.report_unsupported(&found.place, "<elasticity> section: it is round");
            }
            if self.dim == 2 && self.elasticity.young > 0.0 {
                build.report_unsupported(&found.place, "<elasticity> of a shell");
            }
        }
        if let Some(contact) = self.element.child("contact") {
            self.contact = surface::terms(contact)?;
            for seen in ["activelayers", "passive", "internal"] {
                contact.get(seen);
            }
            self.touches_itself = contact.get("selfcollide") != Some("none");
        }
        Ok(())
    }

    /// Its surface, which is rigid where it touches.
    fn surface(&self) -> Surface {
        let [friction, spin, roll] = self.contact.friction;
        let resistance = surface::resistance(self.contact.condim);
        let priority = self.contact.priority;
        Surface { spin, roll, resistance, priority, ..Surface::with_friction(friction) }
    }
}

fn positive(element: &Element, name: &str) -> Result<Option<f64>, SceneError> {
    match element.number(name)? {
        Some(number) if !(number > 0.0) => Err(element.wrong(name, "a positive number")),
        found => Ok(found),
    }
}

fn colour(build: &Build, element: &Element) -> Result<[f32; 4], SceneError> {
    let own = asset::colour(element)?;
    let material = element.get("material").and_then(|name| name.split_ascii_whitespace().next());
    let material = material.and_then(|name| build.assets.materials.get(name).copied());
    Ok(own.or(material).unwrap_or([0.5, 0.5, 0.5, 1.0]))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, model};

    fn count(text: &str, what: &str) -> usize {
        let found = model(text);
        found.unsupported.iter().filter(|u| u.physical && u.what.contains(what)).count()
    }

    #[test]
    fn a_chain_of_points_keeps_its_edges_and_its_pin() {
        let found = model(
            "<worldbody><flexcomp name='f' type='grid' dim='1' count='3 1 1' mass='3' \
             spacing='.2 .2 .2'><pin id='0'/><edge equality='true'/></flexcomp></worldbody>",
        );
        let model = found.world.model();
        // Two of three points move, each with three slides.
        assert_eq!((model.nv(), model.bodies().len()), (6, 3));
        assert_eq!(model.bodies()[2].spec.name, "f_2");
        assert_eq!(model.bodies()[1].spec.mass.unwrap().mass(), 1.0);
        assert_eq!(found.world.equalities().len(), 2);
        let q0 = model.q0().to_vec();
        assert!(q0.iter().all(|q| *q == 0.0));
    }

    #[test]
    fn a_solid_has_the_mass_of_the_file_and_its_pins_are_fixed() {
        let found = model(
            "<worldbody><body pos='0 0 1'><flexcomp name='f' type='grid' dim='3' count='3 2 2' \
             spacing='.1 .1 .1' mass='2'><pin id='0 1 2 3'/><elasticity young='1e5' \
             poisson='.3' damping='.01'/></flexcomp></body></worldbody>",
        );
        let soft = &found.world.model().softs()[0];
        assert_eq!((soft.spec.vertices.len(), soft.spec.tetrahedra.len()), (12, 12));
        let mass = soft.spec.density * 0.2 * 0.1 * 0.1;
        assert!((mass - 2.0).abs() < 1e-12);
        assert_eq!(soft.spec.fixed, [0, 1, 2, 3]);
        assert!((soft.spec.vertices[0] - nalgebra::Vector3::new(-0.1, -0.05, 0.95)).norm() < 1e-15);
    }

    #[test]
    fn an_elastic_line_is_a_cable_from_the_middle_of_its_clamped_edge() {
        let found = model(
            "<worldbody><flexcomp name='f' type='grid' dim='1' count='11 1 1' radius='.01' \
             spacing='.1 .1 .1' mass='.5'><pin id='0 1'/><elasticity young='1e6'/></flexcomp>\
             </worldbody>",
        );
        let cable = &found.world.cables()[0];
        assert_eq!(cable.bodies.len(), 10);
        // Half of the clamped edge is part of the cable.
        assert!((cable.segment_length - 0.095).abs() < 1e-12);
        let masses = found.world.model().bodies().iter().filter_map(|body| body.spec.mass);
        let total: f64 = masses.map(|mass| mass.mass()).sum();
        assert!((total - 0.95 * 0.5).abs() < 1e-12, "{total}");
    }

    #[test]
    fn what_does_not_map_is_listed_and_nonsense_is_refused() {
        for (attributes, inner, what) in [
            ("type='box' dim='3'", "", "type"),
            ("dof='radial'", "", "dof"),
            ("rigid='true'", "", "rigid"),
            ("dim='2'", "<elasticity young='1' elastic2d='both'/>", "shells"),
            ("type='circle' dim='1'", "<elasticity young='1'/>", "closed"),
            ("dim='2'", "<edge equality='true'/>", "sheets"),
        ] {
            let text = format!(
                "<worldbody><flexcomp name='f' {attributes}>{inner}</flexcomp></worldbody>"
            );
            assert_eq!(count(&text, what), 1, "{attributes}");
        }
        for bad in ["mass='-1'", "count='0 1 1'", "type='direct' point='0 0'", "type='blob'"] {
            let text = format!("<worldbody>\n<flexcomp name='f' dim='1' {bad}/></worldbody>");
            assert!(error(&text).starts_with("main.xml:2: "), "{bad}");
        }
    }
}
