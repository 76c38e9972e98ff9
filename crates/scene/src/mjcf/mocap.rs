//! Mocap bodies: bodies on the world whose pose is set by a program. They become driven bodies;
//! keyframes may give their initial poses.
//!
//! In MuJoCo they may carry bodies with joints, and planes. Here such a mocap body is fixed,
//! and is listed.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};
use stiction_mech::{BodyId, Input, Model};

use super::body::TreeDraft;
use super::build::Build;
use super::keyframe::{LEAST_NORM, numbers};
use crate::error::SceneError;
use crate::xml::Element;

/// Fixes mocap bodies that cannot be driven, and lists them.
pub(super) fn check(build: &mut Build, draft: &mut TreeDraft) {
    for mocap in build.mocap.clone() {
        // Bodies are in depth-first order: descendants follow their ancestor without a gap.
        let carries = |body: &usize| {
            let mut up = BodyId(*body);
            while up > mocap {
                up = draft.bodies[up.0].spec.parent;
            }
            up == mocap
        };
        let last = (mocap.0..draft.bodies.len()).take_while(carries).last().unwrap_or(mocap.0);
        let carried = mocap.0..=last;
        let moves = draft.bodies[carried.clone()].iter().any(|body| body.link != 0);
        let endless = draft.geoms.iter().map(|draft| &draft.geom).find(|geom| {
            carried.contains(&geom.body.0) && !geom.shape.bounding_radius().is_finite()
        });
        let obstacle = match endless {
            _ if moves => "bodies with joints",
            Some(geom) => geom.shape.name(),
            None => continue,
        };
        let what = format!("mocap: the body carries {obstacle} and stands still");
        let body = &mut draft.bodies[mocap.0];
        body.spec.driven = false;
        build.report_unsupported(&body.place, what);
    }
}

/// Poses of the driven bodies of a model that a key gives by `mpos` and `mquat`; what it does not give
/// is as the bodies stand.
pub(super) fn poses(
    build: &Build,
    key: &Element,
    model: &Model,
) -> Result<Vec<Isometry3<f64>>, SceneError> {
    let declared = |id: &BodyId| {
        let body = model.body_of_builder(*id).unwrap_or(*id);
        model.bodies()[body.0].spec.pose
    };
    let home: Vec<_> = build.mocap.iter().map(declared).collect();
    let positions = home.iter().flat_map(|pose| pose.translation.vector.data.0[0]);
    let positions = numbers(key, "mpos", &positions.collect::<Vec<_>>())?;
    let turns = home.iter().flat_map(|X| {
        let r = X.rotation;
        [r.w, r.i, r.j, r.k]
    });
    let turns = numbers(key, "mquat", &turns.collect::<Vec<_>>())?;
    let mut poses = Input::new(model).driven_pose;
    let given = positions.chunks_exact(3).zip(turns.chunks_exact(4));
    for (id, (position, turn)) in build.mocap.iter().zip(given) {
        let turn = Quaternion::new(turn[0], turn[1], turn[2], turn[3]);
        // A zero quaternion is the identity, as in MuJoCo.
        let turn = UnitQuaternion::try_new(turn, LEAST_NORM).unwrap_or_default();
        let place = Translation3::new(position[0], position[1], position[2]);
        let body = model.body_of_builder(*id);
        if let Some(k) = model.driven().iter().position(|driven| Some(*driven) == body) {
            poses[k] = Isometry3::from_parts(place, turn);
        }
    }
    Ok(poses)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, model, world};
    use nalgebra::{Isometry3, Vector3};

    #[test]
    fn a_mocap_body_is_driven_with_all_that_it_carries() {
        let found = world(
            "<body name='arm'><joint/><geom size='.1'/></body>
             <body name='hand' mocap='true' pos='1 2 3'><geom size='.1'/>
               <body name='tip' pos='0 0 1'><geom size='.1'/></body></body>",
        );
        assert!(found.unsupported.is_empty(), "{:?}", found.unsupported);
        let model = found.world.model();
        let name = |id: stiction_mech::BodyId| model.bodies()[id.0].spec.name.clone();
        let driven: Vec<_> = model.driven().iter().map(|id| name(*id)).collect();
        assert_eq!(driven, ["hand"]);
        let mut scene_run = found.scene().unwrap().start().unwrap();
        assert_eq!(
            scene_run.simulation.body_pose(3).translation.vector,
            Vector3::new(1.0, 2.0, 4.0)
        );
        scene_run.simulation.input_mut().driven_pose[0].translation.x = 1.5;
        let _ = scene_run.step().unwrap();
        assert_eq!(
            scene_run.simulation.body_pose(3).translation.vector,
            Vector3::new(1.5, 2.0, 4.0)
        );
    }

    #[test]
    fn mocap_bodies_that_cannot_be_driven_are_listed_with_their_line() {
        for (inner, why) in [
            ("<geom type='plane' size='1 1 1'/>", "plane"),
            ("<body><joint type='slide'/><geom size='.1'/></body>", "joints"),
        ] {
            let found = world(&format!(
                "\n<body name='m' mocap='true'>{inner}</body><body mocap='true' pos='0 0 5'/>"
            ));
            let [listed] = &found.unsupported[..] else { panic!("{:?}", found.unsupported) };
            assert!(listed.physical && listed.what.contains(why), "{listed:?}");
            assert_eq!(listed.place.line, 2);
            assert_eq!(found.world.model().driven().len(), 1);
        }
        for wrong in [
            "<body><body mocap='true'/></body>",
            "<body mocap='true'><freejoint/><geom size='.1'/></body>",
        ] {
            let message = error(&format!("<worldbody>{wrong}</worldbody>"));
            assert!(message.contains("mocap"), "{message}");
        }
    }

    #[test]
    fn keys_say_where_mocap_bodies_begin() {
        // The first cannot be driven, and takes its place in the numbers all the same.
        let bodies = "<worldbody>
            <body mocap='true'><geom type='plane' size='1 1 1'/></body>
            <body name='a' mocap='true' pos='1 0 0'/><body name='b' mocap='true'/></worldbody>";
        let key = "<key/><key mpos='9 9 9 1 2 3 4 5 6' mquat='9 9 9 9 0 0 3 4 0 0 0 0'/>";
        let found = model(&format!("{bodies}<keyframe>{key}</keyframe>"));
        assert_eq!(found.keyframes[0].driven[0].translation.x, 1.0);
        let poses = &found.keyframes[1].driven;
        assert_eq!(poses[0].translation.vector, Vector3::new(1.0, 2.0, 3.0));
        let turn = poses[0].rotation;
        assert_eq!([turn.w, turn.i, turn.j, turn.k], [0.0, 0.0, 0.6, 0.8]);
        assert_eq!(poses[1], Isometry3::translation(4.0, 5.0, 6.0));
        let mut scene_run = found.scene_from("1").unwrap().start().unwrap();
        assert_eq!(scene_run.simulation.body_pose(3), poses[1]);
        for wrong in ["mpos='1 2 3'", "mquat='1 0 0 0'"] {
            let message = error(&format!("{bodies}<keyframe><key {wrong}/></keyframe>"));
            assert!(message.contains("expected"), "{message}");
        }
    }
}
