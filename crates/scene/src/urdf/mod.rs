//! Reader of URDF, the robot format of ROS.
//!
//! Every link becomes a body; its frame is that of the joint above it. Bodies and coordinates follow
//! depth first, the children of a link in the order in which their joints stand in the file; each
//! joint has the coordinates of its kind in the layout of MuJoCo:
//!
//! | URDF | here | q |
//! |---|---|---|
//! | `revolute`, `continuous` | hinge | angle [rad] |
//! | `prismatic` | slide | distance [m] |
//! | `planar` | planar | two distances [m] and the angle about the axis [rad] |
//! | `spherical` | ball | quaternion (w, x, y, z) |
//! | `floating`, below the world | free | pose in the world: x, y, z [m], quaternion |
//! | `floating`, below a moving link | three slides `NAME_x`, `NAME_y`, `NAME_z` and a ball | as they say |
//! | `fixed` | welded, or one body with its parent if `merge_fixed` is set | none |
//!
//! - The root is welded to the world, or free (`root_joint`) if `floating_base` is set. A root
//!   called `world` without inertia *is* the world.
//! - Joints that move along one coordinate and mimic no other get a motor of their name, in the order
//!   of the joints, whose control is the force or torque, within ± `effort` if that is positive.
//! - `mimic` becomes an equality; `damping` and `friction` of `dynamics` act on the joint; a range
//!   without extent is none.
//! - Collision meshes stand for their convex hulls. Bodies whose shapes overlap where the robot
//!   starts never touch one another.
//! - A robot starts at the keyframe `neutral`: all coordinates at zero, or at the nearest end of
//!   their range, and mimicking joints where their leaders put them.
//! - Inertias are taken as they stand, impossible ones too, and such are listed. Where a coordinate
//!   would carry no inertia at all, its joint gets the least armature that lets it move.
//!
//! Ignored on purpose, because they do not affect the motion: velocity limits, calibration,
//! safety controllers, transmissions, textures. Everything else that is not understood is listed.

mod contacts;
mod diagnostics;
mod geometry;
mod inertia;
mod joint;
mod link;
mod namespace;
mod package;
mod plan;
mod proximity;
mod robot;
mod singular;
mod tree;
mod unread;

use std::path::Path;
use std::sync::Arc;

use stiction_mech::BodyId;
use stiction_sim::{Settings, WorldError};

use crate::error::SceneError;
use crate::files::Files;
use crate::import::{Imported, Options, Script};
use crate::xml::Element;
use diagnostics::Diagnostics;
use package::Packages;
use robot::Robot;

/// Reads a file.
pub fn read(files: &mut Files, path: &Path, options: &Options) -> Result<Imported, SceneError> {
    let text = files.text(path)?;
    let root = Element::parse(&text, path).or_else(|error| match namespace::declared(&text) {
        Some(declared) => Element::parse(&declared, path),
        None => Err(error),
    })?;
    let mut diagnostics = Diagnostics::default();
    let robot = Robot::read(&root, &mut diagnostics)?;
    let tree = tree::Tree::of(&robot, &root)?;
    let mut plan = plan::Plan::of(&robot, &tree, options, &mut diagnostics)?;
    singular::brace(&mut plan, &mut diagnostics)?;
    let packages = Packages::of(path, options);
    let geometry = geometry::Geometry::of(&robot, &plan, files, &packages, &mut diagnostics)?;
    unread::list(&root, &mut diagnostics);

    let mut builder = plan.builder();
    let model = builder.mechanism.clone().build().map_err(WorldError::from)?;
    let neutral = plan.neutral(&model);
    for (a, b) in contacts::overlapping(&model, &geometry.geoms, &neutral)? {
        builder.exclude(a, b);
        let note = "bodies that overlap at the start never touch one another";
        diagnostics.note(note, format!("{} and {}", plan.name(a), plan.name(b)));
    }
    for geom in geometry.geoms {
        builder.geom(geom);
    }
    let world = builder.build()?;
    let id = |body: BodyId| world.model().body_of_builder(body).unwrap_or(BodyId::WORLD);
    let (mut sites, mut visuals) = (plan.sites.clone(), geometry.visuals);
    sites.iter_mut().for_each(|site| site.body = id(site.body));
    visuals.iter_mut().for_each(|visual| visual.body = id(visual.body));
    let stem = || path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into());
    let (unsupported, notes) = diagnostics.finish();
    let neutral = plan.keyframe(neutral, world.model());
    Ok(Imported {
        name: if robot.name.is_empty() { stem() } else { robot.name.clone() },
        format: "urdf",
        script: Script { start: Some(neutral.clone()), ..Script::default() },
        keyframes: vec![neutral],
        sites,
        cameras: Vec::new(),
        world: Arc::new(world),
        settings: Settings::default(),
        visuals,
        unsupported,
        notes,
        record: None,
        files: files.clone(),
    })
}

#[cfg(test)]
mod tests;
