//! Scenes from text: what they become, and what is refused where.

use std::path::Path;

use nalgebra::Vector3;
use stiction_mech::JointKind;
use stiction_sim::surface::Resistance;

use crate::error::SceneError;
use crate::files::Files;
use crate::import::{Imported, Options, load_with};
use crate::signal::SignalShape;

/// A scene in memory, beside a small robot on a hinge and one that flies.
fn read(text: &str) -> Result<Imported, SceneError> {
    let mut files = Files::in_memory();
    files.insert("s/scene.toml", text.as_bytes());
    files.insert("s/way.csv", *b"time,a\n0,0\n1,2\n");
    files.insert(
        "s/robots/arm.xml",
        *br#"<mujoco model="arm"><option gravity="0 0 -1" timestep="0.004"/><worldbody>
  <body name="base"><geom type="box" size=".1 .1 .1" mass="3"/>
    <body name="link" pos="0 0 .3"><joint name="hinge" axis="0 1 0"/>
      <geom type="capsule" size=".02 .1" mass="1"/><site name="tip" pos="0 0 .2"/></body></body>
</worldbody><actuator><position name="servo" joint="hinge" kp="50"/></actuator>
<keyframe><key name="bent" qpos="0.5" ctrl="0.25"/></keyframe></mujoco>"#,
    );
    files.insert(
        "s/robots/drone.xml",
        *br#"<mujoco model="drone"><worldbody><body name="hull" pos="0 0 1"><freejoint name="fly"/>
<geom type="sphere" size=".1" mass="2"/></body></worldbody>
<keyframe><key name="away" qpos="1 0 2 1 0 0 0" qvel="1 0 0 0 0 3"/></keyframe></mujoco>"#,
    );
    load_with(files, Path::new("s/scene.toml"), &Options::default())
}

fn message(text: &str) -> String {
    read(text).map(|scene| scene.name).unwrap_err().to_string()
}

const BALL: &str = "[[body]]\nname = 'ball'\nshape = 'sphere'\nradius = 0.1\n";

#[test]
fn an_empty_file_is_an_empty_world() {
    let scene = read("").unwrap();
    assert_eq!((scene.name.as_str(), scene.world.model().nq()), ("scene", 0));
    assert!(scene.scene().unwrap().start().unwrap().run().unwrap().passed);
}

#[test]
fn errors_name_the_line_and_the_expected_value() {
    let with_ball = |more: &str| format!("{BALL}{more}");
    for (text, line, expected) in [
        ("[scene]\ngravitas = 1".to_owned(), 2, "duration, gravity, name"),
        ("[scene]\n\nduration = -1".to_owned(), 3, "above zero"),
        ("[scenery]".to_owned(), 1, "actuator, body"),
        ("[record]\nfile = 'x'".to_owned(), 1, "no files; expected names"),
        ("[record]\nfiles = ['../x.html']".to_owned(), 2, "below the folder"),
        ("[record]\nfiles = ['/x.html']".to_owned(), 2, "below the folder"),
        ("[record]\nfiles = ['x.html', 'x.html']".to_owned(), 2, "each name once"),
        ("[record]\nfiles = 3".to_owned(), 2, "array of texts"),
        ("[record]\nfiles = 'x.html'\nfps = 0".to_owned(), 3, "above zero"),
        ("[record]\nfiles = 'x.html'\nrate = 1".to_owned(), 3, "one of: files, fps, picture"),
        ("[step]\ntime-step = 0".to_owned(), 2, "> 0"),
        ("[step]\ntime-stop = 0.1".to_owned(), 2, "time-step"),
        ("[step]\nsolver = 'magic'".to_owned(), 2, "magic"),
        ("[step]\nsolver = { name = 'alm', magic = 1 }".to_owned(), 2, "magic"),
        ("[step]\nsleep = { magic = 1 }".to_owned(), 2, "sleep.patience"),
        ("[step]\nscheme = []".to_owned(), 2, "expected a number"),
        ("[[surface]]\nfriction = 1".to_owned(), 1, "a name"),
        ("[[surface]]\nname = 'x'\nfriction = -1".to_owned(), 3, "not negative"),
        ("[[surface]]\nname = 'x'\nresistance = 'x'".to_owned(), 3, "\"rolling\""),
        ("[[body]]\nname = 'x'".to_owned(), 1, "[[body.part]]"),
        ("[[body]]\nshape = 'cone'".to_owned(), 2, "\"box\""),
        ("[[body]]\nshape = 'box'\nedges = [1, 1]".to_owned(), 3, "3 finite numbers"),
        ("[[body]]\nshape = 'box'\nedges = [1, 1, 0]".to_owned(), 2, "half extent z"),
        ("[[body]]\nshape = 'sphere'\nradius = 1\nlength = 2".to_owned(), 4, "radius, shape"),
        ("[[body]]\nshape = 'plane'".to_owned(), 1, "fixed = true"),
        ("[[body]]\nshape = 'mesh'\nfile = 'no.obj'".to_owned(), 0, "no.obj"),
        (with_ball("mass = 0"), 5, "above zero"),
        (with_ball("mass = 1\ndensity = 2"), 6, "mass"),
        (with_ball("colour = [2, 0, 0]"), 5, "from 0 to 1"),
        (with_ball("orientation = [0, 0, 0, 0]"), 5, "quaternion"),
        (with_ball("orientation = [0, 0, 0]"), 5, "quaternion"),
        (with_ball("orientation = { axis = [0, 0, 1] }"), 5, "an angle"),
        (with_ball("surface = 'ice'"), 5, "of which there are none"),
        (with_ball("parent = 'cube'"), 5, "ball"),
        (with_ball("parent = 'ball'"), 5, "hang on this one"),
        (with_ball("copies = { count = [0, 1, 1], spacing = [1, 1, 1] }"), 5, "whole numbers"),
        (with_ball("copies = { count = [1e3, 1e3, 1e3], spacing = [1, 1, 1] }"), 5, "a million"),
        (with_ball("fixed = true\nvelocity = [1, 0, 0]"), 6, "velocity"),
        (with_ball("\n[[body]]\nname = 'ball'\nshape = 'sphere'\nradius = 1"), 0, "ball"),
        (with_ball("\n[[joint]]\nbody = 'cube'\nkind = 'ball'"), 7, "[[body]]"),
        (with_ball("\n[[joint]]\nbody = 'ball'\nkind = 'hinge'"), 6, "axis"),
        (with_ball("\n[[joint]]\nbody = 'ball'\nkind = 'ball'\nstart = 1"), 9, "start"),
        (with_ball("\n[[joint]]\nbody = 'ball'\nkind = 'ball'\nrange = [1, 0]"), 9, "lower"),
        (with_ball("\n[[actuator]]\njoint = 'x'\nkind = 'motor'"), 7, "nothing of that kind"),
        (with_ball("\n[[controller]]\nkind = 'hold'"), 6, "actuators"),
        (with_ball("\n[[check]]\nbody = 'ball'"), 6, "nothing is claimed"),
        (with_ball("\n[[check]]\nbody = 'box'\nlowest = 0"), 7, "ball"),
        (with_ball("\n[[check]]\nbody = 'ball'\nposition = [0, 0, 0]"), 6, "within"),
        ("[[model]]\nfile = 'scene.toml'".to_owned(), 2, ".urdf"),
        ("[[model]]\nfile = 'robots/none.xml'".to_owned(), 0, "none.xml"),
        ("[[model]]\nfile = 'robots/arm.xml'\nkeyframe = 'x'".to_owned(), 3, "bent"),
        ("[[model]]\nfile = 'robots/arm.xml'\nparent = 'x'".to_owned(), 3, "x"),
        ("[[model]]\nfile = 'robots/arm.xml'\nbase = 'x'".to_owned(), 3, "\"floating\""),
        ("[[model]]\nfile = 'robots/arm.xml'\njoints = { x = 1 }".to_owned(), 3, "hinge"),
    ] {
        let found = message(&text);
        assert!(found.contains(expected), "{text}\n→ {found}");
        if line > 0 {
            assert!(found.starts_with(&format!("s/scene.toml:{line}: ")), "{text}\n→ {found}");
        }
    }
}

#[test]
fn the_mass_of_parts_is_that_of_the_whole() {
    // Two cubes beside one another are a box of twice the length.
    let cube = |x: f64| format!("[[body.part]]\nshape='box'\nedges=[1,1,1]\nposition=[{x},0,0]\n");
    let scene = read(&format!("[[body]]\nname='b'\nmass=6\n{}{}", cube(0.5), cube(-0.5))).unwrap();
    let mass = scene.world.model().bodies()[1].spec.mass.unwrap();
    assert_eq!(mass.mass(), 6.0);
    // m (b² + c²)/12 about each axis of a box of 2 × 1 × 1 m.
    let expected = Vector3::new(2.0, 5.0, 5.0) / 12.0 * 6.0;
    assert!((mass.inertia().diagonal() - expected).norm() <= 1e-14, "{}", mass.inertia());
}

#[test]
fn copies_stand_in_a_grid_and_are_numbered() {
    let text = format!(
        "{BALL}position = [0, 0, 1]\ncopies = {{ count = [2, 1, 3], spacing = [0.5, 1, 0.25] }}"
    );
    let scene = read(&text).unwrap();
    let model = scene.world.model();
    assert_eq!(model.bodies().len(), 7);
    let last = &model.bodies()[model.body("ball-5").unwrap().0];
    assert_eq!(last.spec.pose.translation.vector, Vector3::new(0.5, 0.0, 1.5));
}

#[test]
fn a_surface_is_found_by_name_in_place_or_by_default() {
    let text = "[[surface]]\nname='default'\nfriction=0.3\n[[surface]]\nname='tyre'\nroll=0.01\n\
        [[body]]\nname='a'\nshape='sphere'\nradius=1\n[[body]]\nname='b'\nshape='sphere'\nradius=1\n\
        surface='tyre'\n[[body]]\nname='c'\nsurface={friction=0.7}\n\
        [[body.part]]\nshape='sphere'\nradius=1\n[[body.part]]\nshape='sphere'\nradius=2\n\
        surface='default'";
    let scene = read(text).unwrap();
    let found: Vec<f64> = scene.world.geoms().iter().map(|geom| geom.surface.friction).collect();
    assert_eq!(found, [0.3, 0.5, 0.7, 0.3]);
    let tyre = scene.world.geoms()[1].surface;
    assert_eq!((tyre.roll, tyre.resistance), (0.01, Resistance::Rolling));
}

#[test]
fn a_spin_about_the_world_is_turned_into_the_frame_of_the_body() {
    let text = format!(
        "{BALL}velocity=[1, 2, 3]\nangular-velocity=[0, 0, 4]\n\
         orientation={{ axis=[1, 0, 0], degrees=90 }}"
    );
    let start = read(&text).unwrap().script.start.unwrap();
    // The frame's y axis stands up: what turns about the vertical turns about it.
    let expected = [1.0, 2.0, 3.0, 0.0, 4.0, 0.0];
    assert!(start.v.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-15), "{:?}", start.v);
}

#[test]
fn models_stand_where_they_are_put_and_begin_as_asked() {
    let text = "[[model]]\nfile='robots/arm.xml'\nname='a'\nposition=[1, 0, 0]\nkeyframe='bent'\n\
        [[model]]\nfile='robots/arm.xml'\nname='b'\njoints={ hinge=-0.5 }\n\
        [[model]]\nfile='robots/drone.xml'\nname='d'\nposition=[0, 0, 1]\nkeyframe='away'\n\
        orientation={ axis=[0, 0, 1], degrees=90 }\n[step]\nsolver='alm'";
    let scene = read(text).unwrap();
    let model = scene.world.model();
    assert_eq!((model.nq(), model.nv(), model.nu()), (9, 8, 2));
    let base = model.body("a/base").unwrap();
    assert_eq!(model.bodies()[base.0].spec.pose.translation.vector.x, 1.0);
    let start = scene.script.start.as_ref().unwrap();
    assert_eq!((start.q[0], start.q[1]), (0.5, -0.5));
    assert_eq!(start.control, [0.25, 0.0]);
    // The drone at (1, 0, 2) with velocity along x, seen from a world turned by a right angle.
    let (q, v) = (&start.q[2..], &start.v[2..]);
    assert!((Vector3::new(q[0], q[1], q[2]) - Vector3::new(0.0, 1.0, 3.0)).norm() <= 1e-15);
    assert!((Vector3::new(v[0], v[1], v[2]) - Vector3::y()).norm() <= 1e-15 && v[5] == 3.0);
    assert!((q[3] - 0.5_f64.sqrt()).abs() <= 1e-15 && (q[6] - 0.5_f64.sqrt()).abs() <= 1e-15);
    // The step is that of the first model but for what the scene says; gravity is the scene's.
    assert_eq!((scene.settings.time_step, scene.settings.solver.as_str()), (0.004, "alm"));
    assert_eq!(model.gravity().z, -9.81);
    assert!(scene.notes.iter().any(|note| note.contains("gravity")), "{:?}", scene.notes);
    let sites: Vec<&str> = scene.sites.iter().map(|site| site.name.as_str()).collect();
    assert_eq!(sites, ["a/tip", "b/tip"]);
}

#[test]
fn a_model_is_carried_by_a_body_or_a_site_of_another() {
    for (parent, height) in [("a/link", 0.3), ("a/tip", 0.5)] {
        let text = format!(
            "[[model]]\nfile='robots/arm.xml'\nname='a'\n[[model]]\nfile='robots/drone.xml'\n\
             name='d'\nparent='{parent}'"
        );
        let scene = read(&text).unwrap();
        let model = scene.world.model();
        // Held, it has no free joint; it stands a metre above what carries it.
        assert_eq!(model.nv(), 1);
        let mut scene_run = scene.scene().unwrap().start().unwrap();
        let hull = model.body("d/hull").unwrap();
        let z = scene_run.simulation.body_pose(hull.0).translation.z;
        assert!((z - (height + 1.0)).abs() <= 1e-12, "{parent}: {z}");
    }
}

#[test]
fn a_base_flies_or_stands_as_asked() {
    let of = |file: &str, base: &str| {
        let text = format!("[[model]]\nfile='robots/{file}.xml'\nbase='{base}'");
        let scene = read(&text).unwrap();
        let joints = scene.world.model().joints();
        joints.iter().filter(|joint| joint.spec.kind == JointKind::Free).count()
    };
    assert_eq!([of("arm", "fixed"), of("arm", "floating")], [0, 1]);
    assert_eq!([of("drone", "fixed"), of("drone", "floating")], [0, 1]);
}

#[test]
fn controllers_know_their_actuators_and_where_they_start() {
    let text = "[[model]]\nfile='robots/arm.xml'\nname='a'\nkeyframe='bent'\n\
        [[controller]]\nkind='hold'\nactuators='a/*'\n\
        [[controller]]\nkind='sinusoid'\nactuators='a/servo'\namplitude=1\nfrequency=2\n\
        [[controller]]\nkind='waypoints'\njoints=['a/hinge']\nkp=10\nfile='way.csv'";
    let scene = read(text).unwrap();
    assert_eq!(scene.world.model().nu(), 2);
    let [hold, swing, way] = &scene.script.signals[..] else { panic!("three signals") };
    // A servo keeps the joint where it starts, whatever the keyframe's control was.
    assert_eq!((hold.actuator, &hold.course), (0, &SignalShape::Hold(0.5)));
    assert!(matches!(swing.course, SignalShape::Sinusoid { centre: 0.5, .. }), "{swing:?}");
    assert_eq!((way.actuator, way.course.at(0.5)), (1, 1.0));
    let message = message(&text.replace("joints=['a/hinge']", "joints=['a/hinge', 'a/hinge']"));
    assert!(message.contains("2 numbers per row"), "{message}");
}

#[test]
fn claims_are_judged_on_what_happened() {
    // One second of fall from rest, in a scheme that is exact for it, ends at −g/2.
    let text = format!(
        "[scene]\nduration=1\n{BALL}[[check]]\nbody='ball'\nposition=[0, 0, -4.905]\nwithin=1e-9\n"
    );
    let verdict = |text: &str| read(text).unwrap().scene().unwrap().start().unwrap().run().unwrap();
    assert!(verdict(&text).passed, "{}", verdict(&text).detail);
    for (claim, expected) in
        [("lowest=0", "height"), ("speed-below=0.1", "m/s"), ("highest=-5", "height")]
    {
        let failed = verdict(&format!("{text}\n[[check]]\nbody='ball'\n{claim}"));
        assert!(!failed.passed && failed.detail.contains(expected), "{}", failed.detail);
    }
}

#[test]
fn no_cut_and_no_change_of_a_byte_makes_the_reader_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenes");
    for name in ["pile.toml", "four-bar.toml", "slope.toml", "terrain.toml"] {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let try_it = |bytes: &[u8]| {
            let mut files = Files::in_memory();
            files.insert("s.toml", bytes);
            let _ = load_with(files, Path::new("s.toml"), &Options::default());
        };
        for end in (0..bytes.len()).step_by(37) {
            try_it(&bytes[..end]);
        }
        for place in (0..bytes.len()).step_by(29) {
            for byte in [b'0', b'-', b'"', b'[', 0xff] {
                let mut changed = bytes.clone();
                changed[place] = byte;
                try_it(&changed);
            }
        }
    }
}

#[test]
fn a_compliance_makes_a_pressure_field() {
    let with = |field: &str| read(&format!("{BALL}surface = {{ compliance = {{ {field} }} }}\n"));
    let scene = with("modulus = 1e6, dissipation = 0.1, resolution = 0.01").unwrap();
    let expected = stiction_sim::Compliance {
        modulus: 1e6,
        dissipation: 0.1,
        thickness: None,
        resolution: Some(0.01),
    };
    assert_eq!(scene.world.geoms()[0].surface.compliance, Some(expected));
    for (bad, expected) in [
        ("dissipation = 0.1", "modulus"),
        ("modulus = 0", "above zero"),
        ("modulus = inf", "no compliance for a rigid surface"),
        ("modulus = 1e6, dissipation = -1", "dissipation"),
        ("modulus = 1e6, resolution = 0", "resolution"),
        ("modulus = 1e6, hardness = 3", "hardness"),
    ] {
        let error = with(bad).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(expected), "{bad}: {error}");
    }
}
