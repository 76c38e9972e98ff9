//! Bodies: order, poses, masses.

use nalgebra::{Matrix3, Vector3};
use stiction_mech::{Data, Model, kinematics};

use crate::mjcf::testing::{error, load, model, world};

/// A few dozen operations on numbers up to ten.
const ROUND_OFF: f64 = 1e-13;

fn names(model: &Model) -> Vec<&str> {
    model.bodies().iter().skip(1).map(|body| body.spec.name.as_str()).collect()
}

fn mass(model: &Model, body: usize) -> (f64, Vector3<f64>, Matrix3<f64>) {
    let mass = model.bodies()[body].spec.mass.unwrap();
    (mass.mass(), mass.com(), mass.inertia())
}

fn positions(model: &Model) -> Vec<Vector3<f64>> {
    let mut data = Data::new(model);
    kinematics(model, model.q0(), &mut data);
    data.body_pose.iter().skip(1).map(|pose| pose.translation.vector).collect()
}

const BALL: &str = "<geom size='0.1' mass='1'/>";

#[test]
fn bodies_joints_and_geoms_stand_in_depth_first_order() {
    let found = world(&format!(
        "<body name='a'><body name='b'><joint name='j'/>{BALL}</body><geom name='late' size='1'/>
         </body><body name='c'><joint name='k'/>{BALL}</body><geom name='floor' size='1'/>"
    ));
    let model = found.world.model();
    assert_eq!(names(model), ["a", "b", "c"]);
    let joints: Vec<_> = model.joints().iter().map(|joint| joint.spec.name.as_str()).collect();
    assert_eq!(joints, ["j", "k"]);
    let geoms: Vec<_> = found.world.geoms().iter().map(|geom| geom.name.as_str()).collect();
    assert_eq!(geoms, ["floor", "late", "", ""]);
}

#[test]
fn frames_move_what_stands_in_them() {
    let found = world(&format!(
        "<frame pos='1 0 0' euler='0 0 90'><body name='a' pos='1 0 0'>
           <frame pos='0 0 2' euler='0 90 0'><joint pos='1 0 0' axis='1 0 0'/>{BALL}
             <site name='s' pos='0 0 3'/><body name='b' pos='0 0 4'/></frame>
         </body></frame>"
    ));
    let model = found.world.model();
    // a: (1, 0, 0) and a quarter turn of (1, 0, 0). b: 2 up, then 4 along what was x of a.
    let expected = [Vector3::new(1.0, 1.0, 0.0), Vector3::new(1.0, 5.0, 2.0)];
    for (found, expected) in positions(model).iter().zip(expected) {
        assert!((found - expected).amax() <= ROUND_OFF, "{found} against {expected}");
    }
    let site = found.sites[0].pose.translation.vector;
    assert!((site - Vector3::new(3.0, 0.0, 2.0)).amax() <= ROUND_OFF, "{site}");
    let joint = &model.joints()[0].spec;
    assert!((joint.anchor - Vector3::new(0.0, 0.0, 1.0)).amax() <= ROUND_OFF);
    let stiction_mech::JointKind::Hinge { axis } = joint.kind else { panic!("no hinge") };
    assert!((axis + Vector3::z()).amax() <= ROUND_OFF);
}

#[test]
fn the_class_of_a_frame_or_body_holds_for_what_stands_in_it() {
    let found = model(&format!(
        "<default><joint damping='1'/><default class='c'><joint damping='2'/></default></default>
         <worldbody><body childclass='c'><joint/>{BALL}<body><joint/>{BALL}
           <body childclass='main'><joint/>{BALL}<body><frame childclass='c'><joint/></frame>{BALL}
         </body></body></body></body></worldbody>"
    ));
    let damping: Vec<_> =
        found.world.model().joints().iter().map(|joint| joint.spec.damping).collect();
    assert_eq!(damping, [2.0, 2.0, 1.0, 2.0]);
}

#[test]
fn two_balls_on_a_rod_have_the_inertia_of_a_dumbbell() {
    let found = world(
        "<body><joint/><geom size='0.1' mass='1' pos='-0.3 0 0'/>
         <geom size='0.2' mass='3' pos='0.5 0 0'/></body>",
    );
    let (m, com, inertia) = mass(found.world.model(), 1);
    let centre = (3.0 * 0.5 - 0.3) / 4.0;
    let own = 0.4 * (0.1_f64.powi(2) + 3.0 * 0.2_f64.powi(2));
    // Two point masses at a distance have the reduced mass times the distance squared.
    let across = own + 0.75 * 0.8_f64.powi(2);
    assert!((m - 4.0).abs() <= ROUND_OFF && (com - Vector3::x() * centre).amax() <= ROUND_OFF);
    let expected = Matrix3::from_diagonal(&Vector3::new(own, across, across));
    assert!((inertia - expected).amax() <= ROUND_OFF);
}

#[test]
fn an_inertial_counts_unless_geoms_are_to_decide() {
    let text = |compiler: &str| {
        model(&format!(
            "<compiler {compiler}/><worldbody><body><joint/><geom size='0.1' mass='5'/>
             <inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/></body></worldbody>"
        ))
    };
    assert_eq!(mass(text("").world.model(), 1).0, 2.0);
    assert_eq!(mass(text("inertiafromgeom='false'").world.model(), 1).0, 2.0);
    assert_eq!(mass(text("inertiafromgeom='true'").world.model(), 1).0, 5.0);
}

#[test]
fn only_geoms_of_the_groups_asked_for_have_mass() {
    let found = model(
        "<compiler inertiagrouprange='0 2'/><worldbody><body><joint/>
         <geom size='0.1' mass='5' group='3'/><geom size='0.1' mass='2' group='2'/></body></worldbody>",
    );
    assert_eq!(mass(found.world.model(), 1).0, 2.0);
}

#[test]
fn a_full_inertia_is_the_matrix_that_is_written() {
    let found = world(
        "<body><joint/><inertial pos='1 2 3' mass='2' fullinertia='3 4 5 0.1 0.2 0.3'/></body>",
    );
    let expected = Matrix3::new(3.0, 0.1, 0.2, 0.1, 4.0, 0.3, 0.2, 0.3, 5.0);
    let (_, com, inertia) = mass(found.world.model(), 1);
    assert_eq!((com, inertia), (Vector3::new(1.0, 2.0, 3.0), expected));
}

#[test]
fn the_total_mass_is_shared_out_in_proportion() {
    let found = model(
        "<compiler settotalmass='10'/><worldbody>
         <body><joint/><geom size='0.1' mass='1'/><body><geom size='0.1' mass='3'/></body></body>
         <geom size='1' mass='100'/></worldbody>",
    );
    let model = found.world.model();
    let (light, heavy) = (mass(model, 1), mass(model, 2));
    assert!((light.0 - 2.5).abs() <= ROUND_OFF && (heavy.0 - 7.5).abs() <= ROUND_OFF);
    assert!((heavy.2[(0, 0)] - 7.5 * 0.4 * 0.01).abs() <= ROUND_OFF);
}

#[test]
fn least_masses_and_impossible_moments_are_corrected_where_the_compiler_says_so() {
    let inertial = "<body><joint/><inertial pos='0 0 0' mass='0.1' diaginertia='1 1 4'/></body>";
    let found = model(&format!(
        "<compiler boundmass='0.5' balanceinertia='true'/><worldbody>{inertial}</worldbody>"
    ));
    let (m, _, inertia) = mass(found.world.model(), 1);
    assert_eq!((m, inertia), (0.5, Matrix3::from_diagonal_element(2.0)));
    let bounded = model(&format!("<compiler boundinertia='3'/><worldbody>{inertial}</worldbody>"));
    let moments = mass(bounded.world.model(), 1).2.diagonal();
    assert_eq!(moments, Vector3::new(3.0, 3.0, 4.0));
    // As it stands, with a note.
    let kept = world(inertial);
    assert_eq!(kept.notes.len(), 1, "{:?}", kept.notes);
}

#[test]
fn an_aligned_free_body_stands_in_the_frame_of_its_inertia() {
    let found = world(
        "<body pos='0 0 1'><freejoint align='true'/><site pos='2 0 0'/>
         <geom type='box' size='0.1 0.2 0.3' mass='1' pos='2 0 0' euler='0 0 90'/></body>",
    );
    let model = found.world.model();
    let (_, com, inertia) = mass(model, 1);
    assert!((positions(model)[0] - Vector3::new(2.0, 0.0, 1.0)).amax() <= ROUND_OFF);
    assert!(com.amax() <= ROUND_OFF && found.sites[0].pose.translation.vector.amax() <= ROUND_OFF);
    let moments = inertia.diagonal();
    assert!((inertia - Matrix3::from_diagonal(&moments)).amax() <= ROUND_OFF);
}

#[test]
fn attached_models_keep_their_own_understanding_of_angles_and_bring_what_refers_to_them() {
    let child = "<mujoco><compiler angle='radian'/>
        <default><default class='c'><joint damping='7'/></default></default>
        <worldbody><body name='arm'><joint name='j' class='c' range='-1 1'/>
        <geom size='0.1' mass='1'/></body><body name='other'><joint name='k'/>
        <geom size='0.1' mass='1'/></body></worldbody>
        <actuator><motor name='m' joint='j'/><motor name='n' joint='k'/></actuator></mujoco>";
    let main = "<mujoco><asset><model name='child' file='child.xml'/></asset><worldbody>
        <body name='base'><joint name='j' range='-90 90'/><geom size='0.1' mass='1'/>
        <frame pos='0 0 1'><attach model='child' body='arm' prefix='left_'/></frame>
        <attach model='child' body='arm' prefix='right_'/></body></worldbody>
        <actuator><motor name='own' joint='j'/></actuator></mujoco>";
    let found = load(&[("main.xml", main), ("child.xml", child)]).unwrap();
    let model = found.world.model();
    assert_eq!(names(model), ["base", "left_arm", "right_arm"]);
    let actuators: Vec<_> = model.actuators().iter().map(|a| a.spec.name.as_str()).collect();
    assert_eq!(actuators, ["own", "left_m", "right_m"]);
    let joint = |name: &str| &model.joints()[model.joint(name).unwrap().0].spec;
    let upper = |name: &str| joint(name).limit.unwrap().upper;
    assert!((upper("j") - std::f64::consts::FRAC_PI_2).abs() <= ROUND_OFF);
    assert_eq!((upper("left_j"), joint("left_j").damping), (1.0, 7.0));
    assert!((positions(model)[1] - Vector3::z()).amax() <= ROUND_OFF);
}

#[test]
fn a_model_that_attaches_itself_is_refused_with_the_chain() {
    let itself = "<mujoco model='m'><asset><model name='m' file='main.xml'/></asset>\n<worldbody>
        <attach model='m' prefix='p'/></worldbody></mujoco>";
    let message = load(&[("main.xml", itself)]).unwrap_err().to_string();
    assert!(message.contains("main.xml → main.xml"), "{message}");
}

#[test]
fn copies_step_and_turn_with_numbers_behind_their_names() {
    let found = model(&format!(
        "<worldbody><replicate count='11' offset='1 0 0' euler='0 0 90' sep='-'>
         <body name='b' pos='0 2 0'><joint name='j'/>{BALL}</body></replicate></worldbody>
         <actuator><motor name='m' joint='j'/></actuator>"
    ));
    let model = found.world.model();
    assert_eq!((names(model)[0], names(model)[10], model.nu()), ("b-00", "b-10", 11));
    assert_eq!(model.actuators()[10].spec.name, "m-10");
    // Each copy stands one step along the x axis of the one before.
    let expected = [(0.0, 2.0), (1.0 - 2.0, 0.0), (1.0, 1.0 - 2.0), (0.0 + 2.0, 1.0), (0.0, 2.0)];
    for (found, (x, y)) in positions(model).iter().zip(expected) {
        assert!((found - Vector3::new(x, y, 0.0)).amax() <= ROUND_OFF, "{found}");
    }
}

#[test]
fn copies_without_end_are_refused_before_they_are_made() {
    let message = error(
        "<worldbody><replicate count='100000'>\n<replicate count='100000'><geom size='1'/>
         </replicate></replicate></worldbody>",
    );
    assert!(message.contains("elements with all copies"), "{message}");
}

#[test]
fn invalid_bodies_are_refused_with_their_line() {
    for (inner, expected) in [
        ("<body>\n<freejoint/><joint/><geom size='1'/></body>", "expected it alone"),
        (
            "<body><geom size='1'/><body>\n<freejoint/><geom size='1'/></body></body>",
            "on the world",
        ),
        ("<body><joint type='ball'/>\n<joint/><geom size='1'/></body>", "after a ball"),
        ("\n<joint/>", "in a body"),
        ("<body><joint/>\n<geom type='plane' size='1 1 1'/></body>", "fixed"),
        ("<body childclass='none'>\n<joint/><geom size='1'/></body>", "name of a class"),
        ("<body name='a'/>\n<body name='a'/>", "a second body"),
        (
            "<body><inertial pos='0 0 0' mass='1'/>\n<inertial pos='0 0 0' mass='1'/></body>",
            "second",
        ),
        ("\n<body pos='0 0 nan'/>", "finite"),
        ("<body><joint/>\n<inertial pos='0 0 0' mass='-1'/></body>", "not negative"),
    ] {
        let message = error(&format!("<worldbody>{inner}</worldbody>"));
        let line = if message.contains("name of a class") { 1 } else { 2 };
        assert!(message.starts_with(&format!("main.xml:{line}: <")), "{message}");
        assert!(message.contains(expected), "{message} lacks {expected}");
    }
}

#[test]
fn a_body_touches_the_one_that_carries_it_only_if_the_file_says_so() {
    let text = |flag: &str, exclude: &str| {
        format!(
            "<option gravity='0 0 0'><flag filterparent='{flag}'/></option><worldbody>
             <body name='a'><freejoint/><geom size='1'/>
             <body name='b' pos='0 0 1.5'><joint type='slide'/><geom size='1'/></body></body></worldbody>
             <contact>{exclude}</contact>"
        )
    };
    let contacts = |text: &str| {
        let found = model(text);
        let mut simulation = stiction_sim::Simulation::new(found.world, found.settings).unwrap();
        let _ = simulation.step().unwrap();
        simulation.contacts().len()
    };
    assert_eq!(contacts(&text("enable", "")), 0);
    assert_eq!(contacts(&text("disable", "")), 1);
    assert_eq!(contacts(&text("disable", "<exclude body1='a' body2='b'/>")), 0);
}
