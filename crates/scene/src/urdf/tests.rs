//! Robots of a few lines whose dynamics are known in closed form, and robots that cannot be.

use super::*;
use nalgebra::{DMatrix, Isometry3, Vector3};
use stiction_mech::{Data, bias_forces, kinematics, mass_matrix, velocities};
use stiction_sim::constraint::Equality;

fn load(text: &str) -> Result<Imported, SceneError> {
    load_as(text, &Options::default())
}

fn load_as(text: &str, options: &Options) -> Result<Imported, SceneError> {
    let mut files = Files::in_memory();
    files.insert("/robots/arm/urdf/arm.urdf", text.as_bytes());
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    files.insert("/robots/arm/meshes/corner.obj", tetrahedron.as_bytes());
    read(&mut files, Path::new("/robots/arm/urdf/arm.urdf"), options)
}

fn message(text: &str) -> String {
    load(text).unwrap_err().to_string()
}

/// Mass matrix and bias forces of a robot with one tree.
fn dynamics(robot: &Imported, q: &[f64], v: &[f64]) -> (DMatrix<f64>, Vec<f64>) {
    let model = robot.world.model();
    let mut data = Data::new(model);
    kinematics(model, q, &mut data);
    velocities(model, v, &mut data);
    mass_matrix(model, &mut data);
    bias_forces(model, v, &mut data);
    (DMatrix::from_row_slice(model.nv(), model.nv(), &data.mass), data.bias.clone())
}

fn pose_of(robot: &Imported, q: &[f64], name: &str) -> Isometry3<f64> {
    let model = robot.world.model();
    let mut data = Data::new(model);
    kinematics(model, q, &mut data);
    data.body_pose[model.body(name).unwrap().0]
}

/// A link with its centre of mass on x.
fn link(name: &str, mass: f64, x: f64, inertia: f64) -> String {
    format!(
        "<link name='{name}'><inertial><origin xyz='{x} 0 0'/><mass value='{mass}'/>\
         <inertia ixx='{inertia}' iyy='{inertia}' izz='{inertia}' ixy='0' ixz='0' iyz='0'/>\
         </inertial></link>"
    )
}

fn joint(name: &str, kind: &str, parent: &str, child: &str, rest: &str) -> String {
    format!(
        "<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/>\
         {rest}</joint>"
    )
}

fn robot(parts: &[String]) -> String {
    format!("<robot name='arm'>\n{}\n</robot>", parts.join("\n"))
}

const HINGE: &str = "<axis xyz='0 0 1'/><limit lower='-2' upper='2' effort='5' velocity='1'/>";

/// Two hinges about z, the second at the distance `a` from the first.
fn two_links(middle: &str, a: f64) -> String {
    robot(&[
        "<link name='base'/>".into(),
        link("upper", 2.0, 0.3, 0.05),
        link("lower", 1.5, 0.2, 0.03),
        joint("shoulder", "revolute", "base", "upper", HINGE),
        middle.into(),
        joint(
            "elbow",
            "continuous",
            "upper",
            "lower",
            &format!(
                "<origin xyz='{a} 0 0'/><axis xyz='0 0 2'/><dynamics damping='0.1' friction='0.2'/>"
            ),
        ),
    ])
}

#[test]
fn a_planar_arm_of_two_links_has_its_textbook_mass_matrix() {
    let (m, c, I, a) = ([2.0, 1.5], [0.3, 0.2], [0.05, 0.03], 0.7);
    let arm = load(&two_links("", a)).unwrap();
    let (q, v) = ([0.4, -1.1], [0.8, 1.7]);
    let (M, bias) = dynamics(&arm, &q, &v);
    let (cos, sin) = (f64::cos(q[1]), f64::sin(q[1]));
    let m22 = I[1] + m[1] * c[1] * c[1];
    let m12 = m22 + m[1] * a * c[1] * cos;
    let m11 = I[0] + m[0] * c[0] * c[0] + m[1] * a * a + m22 + 2.0 * m[1] * a * c[1] * cos;
    let expected = DMatrix::from_row_slice(2, 2, &[m11, m12, m12, m22]);
    // A few dozen operations on numbers of order one.
    assert!((&M - expected).amax() < 1e-14, "{M}");
    // Gravity is along z, so only Coriolis and centrifugal forces remain.
    let h = m[1] * a * c[1] * sin;
    assert!((bias[0] + h * (2.0 * v[0] * v[1] + v[1] * v[1])).abs() < 1e-14);
    assert!((bias[1] - h * v[0] * v[0]).abs() < 1e-14);
}

#[test]
fn axes_ranges_friction_and_motors_are_those_of_the_file() {
    let arm = load(&two_links("", 0.7)).unwrap();
    let model = arm.world.model();
    let [shoulder, elbow] = model.joints() else { panic!("two joints") };
    let limit = shoulder.spec.limit.unwrap();
    assert_eq!((limit.lower, limit.upper, elbow.spec.limit), (-2.0, 2.0, None));
    assert_eq!((elbow.spec.damping, elbow.spec.friction_loss), (0.1, 0.2));
    assert_eq!(shoulder.spec.actuator_force_range, Some((-5.0, 5.0)));
    let motors: Vec<_> =
        model.actuators().iter().map(|a| (a.spec.name.as_str(), a.spec.force_range)).collect();
    assert_eq!(motors, [("shoulder", Some((-5.0, 5.0))), ("elbow", None)]);
    assert!(arm.unsupported.is_empty(), "{:?}", arm.unsupported);
}

#[test]
fn an_inertia_is_turned_with_its_origin() {
    let quarter = std::f64::consts::FRAC_PI_2;
    let arm = load(&robot(&[format!(
        "<link name='bar'><inertial><origin xyz='1 2 3' rpy='0 0 {quarter}'/><mass value='2'/>\
         <inertia ixx='1' iyy='2' izz='2.5' ixy='0.1' ixz='0.2' iyz='0.3'/></inertial></link>"
    )]))
    .unwrap();
    let mass = arm.world.model().bodies()[1].spec.mass.unwrap();
    // A quarter about z: x becomes y, y becomes −x.
    let expected = nalgebra::Matrix3::new(2.0, -0.1, -0.3, -0.1, 1.0, 0.2, -0.3, 0.2, 2.5);
    assert!((mass.inertia() - expected).amax() < 1e-15);
    assert_eq!(mass.com(), Vector3::new(1.0, 2.0, 3.0));
}

#[test]
fn coordinates_follow_depth_first_in_the_order_of_the_joints() {
    let names = ["root", "a", "b", "a1", "a2", "b1"];
    let mut parts: Vec<_> = names.iter().map(|name| link(name, 1.0, 0.1, 0.1)).collect();
    for (parent, child) in [("b", "b1"), ("root", "b"), ("a", "a2"), ("root", "a"), ("a", "a1")] {
        parts.push(joint(&format!("to_{child}"), "continuous", parent, child, ""));
    }
    let arm = load(&robot(&parts)).unwrap();
    let order: Vec<_> = arm.world.model().joints().iter().map(|j| j.spec.name.as_str()).collect();
    assert_eq!(order, ["to_b", "to_b1", "to_a", "to_a2", "to_a1"]);
}

#[test]
fn a_mimicking_joint_follows_and_has_no_motor() {
    let follower = "<axis xyz='0 0 1'/><limit lower='-9' upper='9' effort='1' velocity='1'/>\
                    <mimic joint='lead' multiplier='-2' offset='0.25'/>";
    let lead = "<axis xyz='0 0 1'/><limit lower='0.5' upper='1' effort='1' velocity='1'/>";
    let arm = load(&robot(&[
        link("base", 1.0, 0.0, 0.1),
        link("a", 1.0, 0.1, 0.1),
        link("b", 1.0, 0.1, 0.1),
        joint("follow", "revolute", "base", "a", follower),
        joint("lead", "revolute", "base", "b", lead),
    ]))
    .unwrap();
    let [Equality::Joint(coupling)] = arm.world.equalities() else { panic!("one equality") };
    assert_eq!((coupling.joint.0, coupling.leader.unwrap().0), (0, 1));
    assert_eq!(coupling.polynomial.0, [0.25, -2.0, 0.0, 0.0, 0.0]);
    assert_eq!(arm.world.model().actuators().len(), 1);
    // The leader starts at the end of its range nearest to zero.
    assert_eq!(arm.keyframes[0].q, [0.25 - 2.0 * 0.5, 0.5]);
}

#[test]
fn rigidly_joined_links_move_alike_as_bodies_and_as_one_body() {
    let (half, third) = (std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_3);
    let middle = format!(
        "{}{}{}{}{}{}",
        link("camera", 0.4, 0.05, 0.002),
        joint(
            "mount",
            "fixed",
            "upper",
            "camera",
            &format!("<origin xyz='0.1 0.2 0.3' rpy='{third} 0.2 {half}'/>")
        ),
        "<link name='lens'/>",
        joint("screwed", "fixed", "camera", "lens", "<origin xyz='0 0 0.1'/>"),
        link("wrist", 0.3, 0.01, 0.001),
        joint("turn", "continuous", "lens", "wrist", "<axis xyz='0 1 1'/>"),
    );
    let text = two_links(&middle, 0.7);
    let merge = Options { merge_fixed: true, ..Options::default() };
    let (welded, merged) = (load(&text).unwrap(), load_as(&text, &merge).unwrap());
    let (q, v) = ([0.4, -1.1, 0.6], [0.8, 1.7, -0.9]);
    let (one, other) = (dynamics(&welded, &q, &v), dynamics(&merged, &q, &v));
    // Both sum the same few products in another order.
    assert!((one.0 - other.0).amax() < 1e-14);
    assert!(one.1.iter().zip(&other.1).all(|(a, b)| (a - b).abs() < 1e-14));
    let bodies = |robot: &Imported| robot.world.model().bodies().len();
    assert_eq!((bodies(&welded), bodies(&merged)), (7, 5));
    // The frames of merged links remain as sites.
    let site = merged.sites.iter().find(|site| site.name == "lens").unwrap();
    let on = &merged.world.model().bodies()[site.body.0].spec.name;
    let found = pose_of(&merged, &q, on) * site.pose;
    assert!((found.to_matrix() - pose_of(&welded, &q, "lens").to_matrix()).amax() < 1e-14);
}

#[test]
fn the_base_is_fixed_free_or_the_world() {
    let free = Options { floating_base: true, ..Options::default() };
    let box_ = robot(&[link("base", 3.0, 0.0, 0.1)]);
    assert_eq!(load(&box_).unwrap().world.model().nv(), 0);
    let flying = load_as(&box_, &free).unwrap();
    assert_eq!(flying.world.model().joints()[0].spec.name, "root_joint");
    let (M, bias) = dynamics(&flying, &flying.keyframes[0].q, &[0.0; 6]);
    let diagonal = [3.0, 3.0, 3.0, 0.1, 0.1, 0.1];
    assert!((M - DMatrix::from_diagonal(&diagonal.to_vec().into())).amax() < 1e-15);
    assert!((bias[2] - 3.0 * 9.81).abs() < 1e-13);
    let on_world = robot(&[
        "<link name='world'/>".into(),
        link("base", 3.0, 0.0, 0.1),
        joint("weld", "fixed", "world", "base", "<origin xyz='0 0 1'/>"),
    ]);
    let standing = load_as(&on_world, &free).unwrap();
    assert_eq!((standing.world.model().nv(), standing.world.model().bodies().len()), (0, 2));
    assert!(standing.notes[0].contains("floating_base"), "{:?}", standing.notes);
}

#[test]
fn a_floating_joint_is_free_in_the_world_and_four_joints_elsewhere() {
    let parts = |kind: &str| {
        robot(&[
            link("base", 1.0, 0.1, 0.1),
            link("arm", 1.0, 0.1, 0.1),
            link("thing", 2.0, 0.0, 0.3),
            joint("turn", kind, "base", "arm", "<axis xyz='0 0 1'/>"),
            joint("float", "floating", "arm", "thing", "<origin xyz='1 0 0' rpy='0 0 0.5'/>"),
        ])
    };
    let fixed = load(&parts("fixed")).unwrap();
    assert_eq!(fixed.world.model().nq(), 7);
    assert_eq!(fixed.keyframes[0].q[..3], [1.0, 0.0, 0.0]);
    let moving = load(&parts("continuous")).unwrap();
    let names: Vec<_> = moving.world.model().joints().iter().map(|j| &j.spec.name[..]).collect();
    assert_eq!(names, ["turn", "float_x", "float_y", "float_z", "float"]);
    // The frame of the declaration rotates with its carrier by half a turn.
    let q = [std::f64::consts::PI, 0.0, 0.2, 0.3, 1.0, 0.0, 0.0, 0.0];
    let along = nalgebra::Rotation3::from_axis_angle(&Vector3::z_axis(), 0.5);
    let expected = -(Vector3::x() + along * Vector3::new(0.0, 0.2, 0.0)) + Vector3::z() * 0.3;
    let found = pose_of(&moving, &q, "thing").translation.vector;
    assert!((found - expected).amax() < 1e-15, "{found}");
}

#[test]
fn planar_and_spherical_joints_have_three_velocities() {
    let with = |kind: &str| {
        load(&robot(&[
            link("base", 1.0, 0.0, 0.1),
            link("puck", 2.0, 0.0, 0.3),
            joint("glide", kind, "base", "puck", "<axis xyz='0 0 1'/>"),
        ]))
        .unwrap()
    };
    let planar = with("planar");
    let (M, _) = dynamics(&planar, &[0.3, 0.4, 0.5], &[0.0; 3]);
    let diagonal = nalgebra::DVector::from_vec(vec![2.0, 2.0, 0.3]);
    assert!((M - DMatrix::from_diagonal(&diagonal)).amax() < 1e-15);
    let at = pose_of(&planar, &[0.3, 0.4, 0.5], "puck");
    assert!((at.translation.vector - Vector3::new(0.3, 0.4, 0.0)).amax() < 1e-15);
    let (M, _) = dynamics(&with("spherical"), &[1.0, 0.0, 0.0, 0.0], &[0.0; 3]);
    assert!((M - DMatrix::identity(3, 3) * 0.3).amax() < 1e-15);
}

#[test]
fn joints_that_carry_no_inertia_get_armature_and_are_told() {
    // A massless frame, and a point mass on the axis that turns it.
    let point = "<link name='point'><inertial><mass value='1'/>\
                 <inertia ixx='0' iyy='0' izz='0' ixy='0' ixz='0' iyz='0'/></inertial></link>";
    let arm = load(&robot(&[
        link("base", 1.0, 0.0, 0.1),
        "<link name='frame'/>".into(),
        point.into(),
        link("tool", 1.0, 0.1, 0.1),
        joint("empty", "continuous", "base", "frame", ""),
        joint("spin", "continuous", "base", "point", "<axis xyz='0 0 1'/>"),
        joint("real", "continuous", "base", "tool", "<axis xyz='0 0 1'/>"),
    ]))
    .unwrap();
    let armature = arm.world.model().armature();
    assert!(armature[0] > 0.0 && armature[1] > 0.0 && armature[2] == 0.0, "{armature:?}");
    let told = arm.notes.iter().find(|note| note.contains("armature")).unwrap();
    assert!(told.contains("empty") && told.contains("spin") && !told.contains("real"), "{told}");
    assert!(arm.unsupported.iter().any(|entry| entry.what.contains("\"point\"")));
}

#[test]
fn inertias_that_no_matter_has_are_kept_and_listed() {
    let impossible = "<link name='odd'><inertial><mass value='1'/>\
                      <inertia ixx='1' iyy='1' izz='5' ixy='0' ixz='0' iyz='0'/></inertial></link>";
    let arm = load(&robot(&[impossible.into()])).unwrap();
    assert_eq!(arm.world.model().bodies()[1].spec.mass.unwrap().inertia()[(2, 2)], 5.0);
    assert_eq!(arm.unsupported.len(), 1);
    let negative = impossible.replace("value='1'", "value='-1'");
    assert!(message(&robot(&[negative])).contains("arm.urdf:2: <inertial>"));
}

#[test]
fn shapes_are_touched_seen_coloured_and_rubbed() {
    let arm = load(&robot(&[
        "<material name='red'><color rgba='1 0 0 1'/></material>".into(),
        "<link name='base'>\
         <collision name='foot'><origin xyz='1 0 0'/><geometry><box size='2 4 6'/></geometry>\
         </collision>\
         <collision><geometry><mesh filename='package://arm/meshes/corner.obj' scale='2 2 -2'/>\
         </geometry></collision>\
         <visual><geometry><cylinder radius='1' length='4'/></geometry><material name='red'/>\
         </visual>\
         <visual><geometry><mesh filename='package://arm/meshes/corner.obj'/></geometry></visual>\
         <visual><geometry><mesh filename='package://arm/meshes/lost.stl'/></geometry></visual>\
         <contact><lateral_friction value='0.9'/><restitution value='0.1'/></contact></link>"
            .into(),
    ]))
    .unwrap();
    let [foot, corner] = arm.world.geoms() else { panic!("two shapes") };
    assert_eq!((foot.name.as_str(), foot.colour), ("foot", [1.0, 0.0, 0.0, 1.0]));
    assert!(
        matches!(foot.shape, stiction_geom::Shape::Box(half) if half == Vector3::new(1., 2., 3.))
    );
    assert_eq!(foot.pose.translation.vector, Vector3::x());
    assert_eq!((foot.surface.friction, foot.surface.restitution), (0.9, 0.1));
    // A corner of a cube of edge 2: 8/6.
    assert!((corner.shape.volume() - 8.0 / 6.0).abs() < 1e-14);
    assert_eq!((arm.visuals.len(), arm.visuals[0].colour), (2, [1.0, 0.0, 0.0, 1.0]));
    assert_eq!(arm.unsupported.len(), 1);
    assert!(arm.unsupported[0].what.contains("lost.stl") && !arm.unsupported[0].physical);
}

#[test]
fn bodies_that_overlap_at_the_start_let_one_another_pass() {
    let ball = |name: &str| {
        format!(
            "<link name='{name}'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' \
             ixy='0' ixz='0' iyz='0'/></inertial><collision><geometry><sphere radius='1'/>\
             </geometry></collision></link>"
        )
    };
    let at = |x: f64| format!("<origin xyz='{x} 0 0'/>");
    let arm = load(&robot(&[
        "<link name='base'/>".into(),
        ball("a"),
        ball("b"),
        ball("c"),
        joint("ja", "continuous", "base", "a", &at(0.0)),
        joint("jb", "continuous", "base", "b", &at(1.5)),
        joint("jc", "continuous", "base", "c", &at(4.0)),
    ]))
    .unwrap();
    let note = arm.notes.iter().find(|note| note.contains("overlap")).unwrap();
    assert!(note.ends_with(": a and b"), "{note}");
}

#[test]
fn elements_of_other_programs_are_listed_once_with_their_location() {
    let arm = load(&robot(&[
        "<gazebo/>".into(),
        "<gazebo reference='base'><mu1>1</mu1></gazebo>".into(),
        "<link name='base' colour='x'><self_collide/></link>".into(),
        "<transmission name='t'/>".into(),
        "<link name='tip'/>".into(),
        joint("j", "fixed", "base", "tip", "<calibration rising='1'/><axis xyz='0 0 0'/>"),
    ]))
    .unwrap();
    let listed: Vec<_> =
        arm.unsupported.iter().map(|entry| (entry.place.line, entry.what.as_str())).collect();
    let expected = [
        (2, "<gazebo> in <robot> (2 times, first here)"),
        (4, "colour of <link>"),
        (4, "<self_collide> in <link>"),
    ];
    assert_eq!(listed, expected);
    assert!(arm.notes[0].contains("transmissions"));
    assert!(arm.unsupported.iter().all(|entry| !entry.physical));
}

#[test]
fn robots_that_are_no_trees_are_refused_with_line_and_name() {
    let links = |names: &[&str]| names.iter().map(|n| format!("<link name='{n}'/>")).collect();
    let fix = |name: &str, parent: &str, child: &str| joint(name, "fixed", parent, child, "");
    /// Links, joints with parent and child, message.
    type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str, &'a str)], &'a str);
    let cases: [Case; 9] = [
        (&["a", "b", "c"], &[("p", "a", "c"), ("q", "b", "c")], ":6: <joint> \"q\": link \"c\""),
        (&["a", "b"], &[], ":3: <link> \"b\": 2 links hang on no other"),
        (&["a", "b"], &[("p", "a", "b"), ("q", "b", "a")], "expected one root"),
        (&["r", "a", "b"], &[("p", "a", "b"), ("q", "b", "a")], "hangs on itself"),
        (&["a"], &[("p", "a", "a")], "to itself"),
        (&["a"], &[("p", "a", "b")], "child is \"b\"; expected the name of a link"),
        (&["a"], &[("p", "x", "a")], "parent is \"x\"; expected the name of a link"),
        (&["a", "a"], &[], ":3: <link> \"a\": a second link"),
        (&["a", "b", "c"], &[("p", "a", "b"), ("p", "b", "c")], ":6: <joint> \"p\": a second"),
    ];
    for (names, joints, expected) in cases {
        let mut parts: Vec<String> = links(names);
        parts.extend(joints.iter().map(|(name, parent, child)| fix(name, parent, child)));
        let found = message(&robot(&parts));
        assert!(found.contains(expected), "{found}\nexpected {expected}");
    }
}

#[test]
fn invalid_robots_are_refused_with_their_line() {
    let base = "<link name='a'/><link name='b'/>";
    let one = |kind: &str, rest: &str| {
        format!("<robot name='r'>{base}\n{}</robot>", joint("j", kind, "a", "b", rest))
    };
    let shape = |shape: &str| {
        format!(
            "<robot name='r'>\n<link name='a'><collision><geometry>{shape}</geometry></collision>\
             </link></robot>"
        )
    };
    for (text, expected) in [
        ("<model/>".into(), "expected the root element robot"),
        ("<robot name='r'/>".into(), "no link"),
        ("<robot name='r'><link name='a'".into(), "expected XML"),
        (one("helical", ""), "type = \"helical\"; expected one of: continuous, fixed"),
        (one("revolute", "<axis xyz='0 0 0'/>"), "axis of no length"),
        (one("revolute", "<axis xyz='0 NaN 1'/>"), "xyz = \"0 NaN 1\""),
        (one("revolute", "<axis xyz='1 0'/>"), "expected 3 finite numbers"),
        (one("revolute", "<limit lower='2' upper='1'/>"), "expected lower ≤ upper"),
        (one("revolute", "<limit lower='1e999' upper='1'/>"), "lower = \"1e999\""),
        (one("revolute", "<dynamics damping='-1'/>"), "damping = \"-1\""),
        (one("revolute", "<mimic joint='j'/>"), "mimics itself"),
        (one("revolute", "<origin xyz='a b c'/>"), "xyz = \"a b c\""),
        (shape("<box size='1 1'/>"), "size = \"1 1\""),
        (shape("<sphere radius='0'/>"), "sphere"),
        (shape("<sphere radius='-1'/>"), "radius = \"-1\""),
        (shape("<torus/>"), "expected one of: box, capsule"),
        (shape("<mesh filename='package://arm/lost.stl'/>"), "/robots/arm/lost.stl"),
        (shape("<mesh filename='http://host/a.stl'/>"), "expected a name with package://"),
        ("<robot xmlns:xacro='x'><xacro:macro name='leg'/></robot>".into(), "xacro robot.urdf"),
        ("<robot><link name='a'><inertial/></link></robot>".into(), "no mass; expected one"),
    ] {
        let found = message(&text);
        assert!(found.contains(expected), "{found}\nexpected {expected}");
        assert!(found.starts_with("/robots/arm/urdf/arm.urdf:"), "{found}");
    }
}

#[test]
fn hydroelastic_properties_of_drake_make_shapes_compliant() {
    let pad = |more: &str| {
        let link = format!(
            "<link name='base'><collision name='pad'><geometry><sphere radius='0.1'/></geometry>\
             <drake:proximity_properties>{more}</drake:proximity_properties></collision></link>"
        );
        load(&robot(&[link]))
    };
    let soft = "<drake:compliant_hydroelastic/><drake:hydroelastic_modulus value='2e5'/>\
                <drake:relaxation_time value='0.03'/><drake:mesh_resolution_hint value='0.02'/>\
                <drake:mu_static value='0.8'/><drake:mu_dynamic value='0.7'/>";
    let found = pad(soft).unwrap();
    let surface = found.world.geoms()[0].surface;
    let expected = stiction_sim::Compliance {
        modulus: 2e5,
        dissipation: 0.03,
        thickness: None,
        resolution: Some(0.02),
    };
    assert_eq!((surface.compliance, surface.friction), (Some(expected), 0.7));
    assert!(found.unsupported.is_empty(), "{:?}", found.unsupported);
    let rigid = pad("<drake:rigid_hydroelastic/>").unwrap();
    assert_eq!(rigid.world.geoms()[0].surface.compliance, None);
    let other = pad("<drake:compliant_hydroelastic/><drake:hunt_crossley_dissipation value='1'/>");
    assert!(other.unwrap().unsupported[0].what.contains("relaxation_time"));
    for (bad, expected) in [
        ("<drake:hydroelastic_modulus value='0'/>", "above zero"),
        ("<drake:relaxation_time value='-1'/>", "not negative"),
        ("<drake:compliant_hydroelastic/><drake:rigid_hydroelastic/>", "one of the two"),
    ] {
        let error = pad(bad).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
