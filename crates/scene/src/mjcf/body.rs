//! `<worldbody>` and `<body>`: the tree of bodies, in the depth-first order of the text.
//!
//! For each body its elements are read first, then its mass is computed, then it is declared with its
//! joints, geoms, sites and cameras, then its children follow. Masses may be scaled once all are
//! known, so bodies and joints are kept as drafts until the tree is complete.

use nalgebra::Isometry3;
use stiction_geom::Groups;
use stiction_mech::{BodyId, BodySpec, JointId, JointKind, JointSpec, MassProperties};
use stiction_sim::{Geom, Scenery};

use super::build::{Build, BuiltBody, BuiltCamera, BuiltGeom, BuiltJoint, BuiltSite, ContactTerms};
use super::compiler::{Compiler, FromGeoms};
use super::flex::{self, FlexDraft};
use super::frame::{BodyChild, gather};
use super::geom::{self, GeomRead, GeomRequirements};
use super::inertial::{self, MassLump};
use super::joint::{self, JointRead};
use super::{asset, mocap, orientation, parent_contact, site, spring, surface};
use crate::error::SceneError;
use crate::import::{Camera, Site, Visual, VisualGeometry};
use crate::xml::{Element, SourceLocation};

/// Children of a body that become bodies.
const CARRIED: [&str; 2] = ["body", "flexcomp"];

/// Groups of shapes that touch nothing.
const NO_COLLISION: Groups = Groups { category: 0, mask: 0 };

/// A body before it is declared.
#[derive(Debug)]
pub(super) struct BodyDraft {
    pub spec: BodySpec,
    lump: Option<MassLump>,
    /// The body whose joints move it; 0 if none do.
    pub link: usize,
    pub place: SourceLocation,
}

/// A shape before its surface is known.
#[derive(Debug)]
pub(super) struct GeomDraft {
    pub geom: Geom,
    pub terms: ContactTerms,
}

/// The tree before it is declared.
#[derive(Debug, Default)]
pub(super) struct TreeDraft {
    pub bodies: Vec<BodyDraft>,
    pub joints: Vec<(BodyId, JointSpec)>,
    springs: Vec<spring::SpringToCompute>,
    pub geoms: Vec<GeomDraft>,
    pub flexes: Vec<FlexDraft>,
}

impl BodyDraft {
    /// A body with joints and with the mass of its specification.
    pub fn massive(spec: BodySpec, id: usize, place: &SourceLocation) -> Self {
        let lump = spec.mass.as_ref().map(|mass| MassLump {
            mass: mass.mass(),
            com: mass.com(),
            inertia: mass.inertia(),
            axes: None,
        });
        Self { spec, lump, link: id, place: place.clone() }
    }
}

/// Reads all world bodies of a file as one.
pub(super) fn read(build: &mut Build, section: &Element) -> Result<(), SceneError> {
    let mut draft = TreeDraft::default();
    let world = BodySpec { name: "world".into(), ..BodySpec::default() };
    let place = section.place.clone();
    draft.bodies.push(BodyDraft { spec: world, lump: None, link: 0, place });
    let pose = Isometry3::identity();
    build.bodies.add(section, "world", BuiltBody { id: BodyId::WORLD, pose, inertial: pose })?;
    let sensed = build.sensed.bodies.contains("world");
    let here = OpenBody { id: 0, pose, link: 0, sensed };
    contents(build, &mut draft, section, here)?;
    scale_masses(build, section, &mut draft);
    if build.compiler(section).fuse_static {
        build.note("fusestatic: fixed bodies keep their names; they move with what carries them");
    }
    declare(build, draft)
}

/// A body while its elements are read.
#[derive(Clone, Copy)]
pub(super) struct OpenBody {
    pub id: usize,
    /// Pose in the world at the reference configuration.
    pub pose: Isometry3<f64>,
    pub link: usize,
    /// Whether a sensor reads distances of its geoms.
    sensed: bool,
}

/// The elements of a body.
#[derive(Default)]
struct BodyElements<'e> {
    joints: Vec<JointRead>,
    geoms: Vec<GeomRead>,
    sites: Vec<(BuiltSite, &'e Element)>,
    cameras: Vec<(BuiltCamera, &'e Element)>,
    inertial: Option<MassLump>,
}

/// Reads the elements of a body, declares it, and continues with its children.
fn contents(
    build: &mut Build,
    draft: &mut TreeDraft,
    element: &Element,
    mut here: OpenBody,
) -> Result<(), SceneError> {
    let gathered = gather(build, element)?;
    let (bodies, own): (Vec<_>, Vec<_>) =
        gathered.into_iter().partition(|found| CARRIED.contains(&found.element.tag.as_str()));
    let mut contents = read_own(build, element, &own, here)?;
    let is_world = here.id == 0;
    if !is_world {
        let lump = total(build.compiler(element), &contents);
        here = place_body(build, draft, here, lump, &mut contents, bodies.is_empty());
    }
    declare_contents(build, draft, here, contents)?;
    for body in bodies {
        match body.element.tag.as_str() {
            "flexcomp" => flex::read(build, draft, &body, here)?,
            _ => child(build, draft, &body, here)?,
        }
    }
    Ok(())
}

/// Reads a child of a body.
fn child(
    build: &mut Build,
    draft: &mut TreeDraft,
    found: &BodyChild,
    parent: OpenBody,
) -> Result<(), SceneError> {
    let element = found.element;
    if draft.bodies.len() > super::MOST_ELEMENTS {
        return Err(element
            .error(format_args!("too many bodies; expected at most {}", super::MOST_ELEMENTS)));
    }
    for ignored in ["user", "sleep", "simple", "fuse"] {
        element.get(ignored);
    }
    let name = element.get("name").unwrap_or_default().to_owned();
    let pose = found.frame * orientation::pose(element, build.compiler(element))?;
    let id = draft.bodies.len();
    let driven = element.boolean("mocap")? == Some(true);
    if driven && parent.id != 0 {
        return Err(element.wrong("mocap", "a body on the world"));
    }
    if driven {
        build.mocap.push(BodyId(id));
    }
    draft.bodies.push(BodyDraft {
        spec: BodySpec {
            name: name.clone(),
            parent: BodyId(parent.id),
            pose,
            gravity_compensation: element.number("gravcomp")?.unwrap_or(0.0),
            driven,
            ..BodySpec::default()
        },
        lump: None,
        link: parent.link,
        place: element.place.clone(),
    });
    let pose = parent.pose * pose;
    let inertial = Isometry3::identity();
    build.bodies.add(element, &name, BuiltBody { id: BodyId(id), pose, inertial })?;
    let sensed = build.sensed.bodies.contains(&name);
    contents(build, draft, element, OpenBody { id, pose, link: parent.link, sensed })
}

/// Reads joints, geoms, sites, cameras and the inertial of a body.
fn read_own<'e>(
    build: &mut Build,
    body: &Element,
    own: &[BodyChild<'e>],
    here: OpenBody,
) -> Result<BodyElements<'e>, SceneError> {
    let tagged = |tag: &'static str| own.iter().filter(move |found| found.element.tag == tag);
    let mut contents = BodyElements::default();
    let inertials: Vec<_> = tagged("inertial").collect();
    if let [_, second, ..] = inertials[..] {
        return Err(second.element.error("found a second one; expected one in a body"));
    }
    let moves =
        own.iter().any(|found| ["joint", "freejoint"].contains(&found.element.tag.as_str()));
    let requirements = GeomRequirements {
        mass: here.id != 0
            && match build.compiler(body).from_geoms {
                FromGeoms::Auto => inertials.is_empty(),
                FromGeoms::Always => true,
                FromGeoms::Never => false,
            },
        still: here.link == 0 && !moves,
        sensed: here.sensed,
    };
    for found in own {
        let element = found.element;
        match found.element.tag.as_str() {
            "joint" if here.id != 0 => {
                contents.joints.push(joint::read(build, element, &found.frame)?)
            }
            "freejoint" if here.id != 0 => contents.joints.push(joint::free(build, element)?),
            "joint" | "freejoint" => {
                return Err(element.error("a joint of the world; expected it in a body"));
            }
            "inertial" if here.id != 0 => {
                contents.inertial = Some(inertial::read(build, element, &found.frame)?);
            }
            "inertial" => {
                return Err(element.error("an inertial of the world; expected it in a body"));
            }
            "geom" => contents.geoms.push(geom::read(build, element, &found.frame, requirements)?),
            "site" => contents.sites.push((site::read(build, element, &found.frame)?, element)),
            "camera" => {
                contents.cameras.push((site::camera(build, element, &found.frame)?, element));
            }
            "light" => asset::seen_only(element),
            // Elements that cannot be read are reported after all others were read.
            _ => {}
        }
    }
    check_joints(&contents.joints)?;
    Ok(contents)
}

/// A free joint is the only joint of its body, and no rotation follows a ball joint.
fn check_joints(joints: &[JointRead]) -> Result<(), SceneError> {
    for (place, joint) in joints.iter().enumerate() {
        if joint.spec.kind == JointKind::Free && joints.len() > 1 {
            return Err(joint.element.error("other joints beside a free one; expected it alone"));
        }
        let before = &joints[..place];
        let slides = matches!(joint.spec.kind, JointKind::Slide { .. });
        if !slides && before.iter().any(|joint| joint.spec.kind == JointKind::Ball) {
            return Err(joint.element.error("a rotation after a ball joint; expected none"));
        }
    }
    Ok(())
}

/// The mass of a body: its inertial, or the sum of its geoms.
fn total(compiler: &Compiler, contents: &BodyElements) -> Option<MassLump> {
    let lumps: Vec<_> = contents.geoms.iter().filter_map(|geom| geom.lump).collect();
    let from_geoms = (!lumps.is_empty()).then(|| MassLump::sum(&lumps));
    let lump = from_geoms.or(contents.inertial);
    let bounded = compiler.least_mass > 0.0 || compiler.least_inertia > 0.0;
    let lump = if bounded { Some(lump.unwrap_or_default()) } else { lump };
    lump.map(|lump| lump.corrected(compiler))
}

/// Gives a body its mass, and aligns a free one with its inertial frame if requested.
fn place_body(
    build: &mut Build,
    draft: &mut TreeDraft,
    mut here: OpenBody,
    lump: Option<MassLump>,
    contents: &mut BodyElements,
    childless: bool,
) -> OpenBody {
    let body = &mut draft.bodies[here.id];
    body.lump = lump;
    let mut inertial = lump.map_or_else(Isometry3::identity, |lump| lump.frame().1);
    let aligned = contents.joints.iter().any(|joint| joint.align);
    if let (Some(lump), true) = (lump, aligned && childless) {
        let (moments, frame) = lump.frame();
        let back = frame.inverse();
        body.spec.pose *= frame;
        here.pose *= frame;
        body.lump = Some(MassLump::principal(lump.mass, moments, &Isometry3::identity()));
        inertial = Isometry3::identity();
        for geom in &mut contents.geoms {
            geom.pose = back * geom.pose;
            if let Some((_, pose)) = &mut geom.visual {
                *pose = back * *pose;
            }
        }
        contents.sites.iter_mut().for_each(|(site, _)| site.pose = back * site.pose);
        contents.cameras.iter_mut().for_each(|(camera, _)| camera.pose = back * camera.pose);
    }
    if !contents.joints.is_empty() {
        here.link = here.id;
        body.link = here.id;
    }
    build.bodies.set(here.id, BuiltBody { id: BodyId(here.id), pose: here.pose, inertial });
    here
}

/// Declares the elements of a body.
fn declare_contents(
    build: &mut Build,
    draft: &mut TreeDraft,
    here: OpenBody,
    contents: BodyElements,
) -> Result<(), SceneError> {
    let body = BodyId(here.id);
    for read in contents.joints {
        if draft.bodies[here.id].spec.driven {
            return Err(read.element.error("a joint of a mocap body; expected none"));
        }
        if read.spec.kind == JointKind::Free && draft.bodies[here.id].spec.parent != BodyId::WORLD {
            return Err(read
                .element
                .error("a free joint below another body; expected it on the world"));
        }
        let id = JointId(draft.joints.len());
        let made =
            BuiltJoint { id, kind: read.spec.kind, range: read.range, part: read.element.part };
        build.joints.add(&read.element, &read.spec.name, made)?;
        if let Some((time, ratio)) = read.spring_damper {
            draft.springs.push(spring::SpringToCompute { joint: id, time, ratio });
        }
        draft.joints.push((body, read.spec));
    }
    for read in contents.geoms {
        declare_geom(build, draft, body, read)?;
    }
    for (site, element) in contents.sites {
        let name = element.get("name").unwrap_or_default();
        build.sites.add(element, name, BuiltSite { body, ..site })?;
        let (pose, size) = (site.pose, site.size);
        build.site_list.push(Site { name: name.to_owned(), body, pose, size });
    }
    for (camera, element) in contents.cameras {
        let name = element.get("name").unwrap_or_default();
        build.cameras.add(element, name, BuiltCamera { body, ..camera })?;
        let BuiltCamera { pose, field_of_view, .. } = camera;
        build.camera_list.push(Camera { name: name.to_owned(), body, pose, field_of_view });
    }
    Ok(())
}

fn declare_geom(
    build: &mut Build,
    draft: &mut TreeDraft,
    body: BodyId,
    read: GeomRead,
) -> Result<(), SceneError> {
    let GeomRead {
        name, element, kind, size, pose, contact, shape, ray_shape, colour, fluid, ..
    } = read;
    let collider = shape.is_some().then_some(draft.geoms.len());
    build.geoms.add(&element, &name, BuiltGeom { body, pose, collider, kind, size, fluid })?;
    if let Some(shape) = shape {
        let geom = Geom {
            name,
            pose,
            groups: if read.touches { surface::groups(&contact) } else { NO_COLLISION },
            // MuJoCo detects contacts within margin + gap; they exert forces within the margin.
            margin: (contact.margin + contact.gap).max(0.0),
            standoff: contact.margin,
            colour,
            ray_shape,
            ..Geom::new(body, shape)
        };
        draft.geoms.push(GeomDraft { geom, terms: contact });
        return Ok(());
    }
    let Some((visual, place)) = read.visual else { return Ok(()) };
    if build.sensed.rays && colour[3] > 0.0 {
        let primitive = match &visual {
            VisualGeometry::Shape(shape) => Some(shape.clone()),
            VisualGeometry::Mesh { .. } => None,
        };
        let shape = ray_shape.or(primitive);
        shape.into_iter().for_each(|shape| build.world.scenery(Scenery { body, pose, shape }));
    }
    if !build.compiler(&element).discard_visual {
        build.visuals.push(Visual { body, pose: place, geometry: visual, colour });
    }
    Ok(())
}

/// Scales all masses to the total of the compiler's `settotalmass`.
fn scale_masses(build: &Build, section: &Element, draft: &mut TreeDraft) {
    let Some(wanted) = build.compiler(section).total_mass else { return };
    let lumps = || draft.bodies.iter().filter_map(|body| body.lump);
    let total: f64 = lumps().map(|lump| lump.mass).sum();
    let scale = wanted / total;
    if !(scale.is_finite() && scale > 0.0) {
        return;
    }
    for lump in draft.bodies.iter_mut().filter_map(|body| body.lump.as_mut()) {
        lump.mass *= scale;
        lump.inertia *= scale;
    }
}

/// Declares bodies, joints and shapes.
fn declare(build: &mut Build, mut draft: TreeDraft) -> Result<(), SceneError> {
    for body in draft.bodies.iter_mut().skip(1) {
        let Some(lump) = body.lump else { continue };
        if lump.mass == 0.0 && lump.inertia.amax() == 0.0 {
            continue;
        }
        let found = MassProperties::new_lenient(lump.mass, lump.com, lump.inertia);
        let mass = found.map_err(|fault| SceneError::Model {
            place: body.place.clone(),
            what: format!("<body> \"{}\": {fault}", body.spec.name),
        })?;
        if let Some(fault) = mass.fault() {
            build.note(format!("body \"{}\" is kept as it stands: {fault}", body.spec.name));
        }
        body.spec.mass = Some(mass);
    }
    mocap::check(build, &mut draft);
    for body in draft.bodies.iter().skip(1) {
        build.world.mechanism.body(body.spec.clone());
    }
    spring::resolve(build, &draft.springs, &mut draft.joints)?;
    if !build.flags.filter_parent {
        build.parent_pairs = parent_contact::pairs(&draft);
    }
    for (body, spec) in draft.joints {
        build.world.mechanism.joint(body, spec);
    }
    for GeomDraft { mut geom, terms } in draft.geoms {
        geom.surface = surface::surface(build, &terms);
        build.world.geom(geom);
    }
    flex::declare(build, draft.flexes)?;
    Ok(())
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
