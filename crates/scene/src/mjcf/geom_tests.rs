//! Geoms: sizes, masses, meshes, fields, and who touches.

use nalgebra::{Matrix3, Vector3};
use stiction_geom::Shape;

use crate::import::VisualGeometry;
use crate::mjcf::testing::{error, load, model, world};

/// A few dozen operations on numbers up to ten.
const ROUND_OFF: f64 = 1e-13;

/// A box with edges 2, 4 and 6 about the origin, triangles looking outwards.
const BOX: &str = "vertex='-1 -2 -3 1 -2 -3 -1 2 -3 1 2 -3 -1 -2 3 1 -2 3 -1 2 3 1 2 3'
    face='0 2 3 0 3 1 4 5 7 4 7 6 0 1 5 0 5 4 2 6 7 2 7 3 0 4 6 0 6 2 1 3 7 1 7 5'";

fn mass(found: &crate::Imported, body: usize) -> (f64, Vector3<f64>, Matrix3<f64>) {
    let mass = found.world.model().bodies()[body].spec.mass.unwrap();
    (mass.mass(), mass.com(), mass.inertia())
}

#[test]
fn two_ends_make_a_capsule_between_them() {
    let found = world("<geom type='capsule' size='0.1' fromto='1 0 0 1 0 4'/>");
    let geom = &found.world.geoms()[0];
    let Shape::Capsule { radius, half_length } = geom.shape else { panic!("no capsule") };
    assert_eq!((radius, half_length), (0.1, 2.0));
    assert!((geom.pose.translation.vector - Vector3::new(1.0, 0.0, 2.0)).amax() <= ROUND_OFF);
    // z points from the second end to the first.
    assert!((geom.pose.rotation * Vector3::z() + Vector3::z()).amax() <= ROUND_OFF);
}

#[test]
fn a_geom_that_no_bit_and_no_pair_lets_touch_is_only_seen() {
    let seen = "contype='0' conaffinity='0'";
    let found = model(&format!(
        "<worldbody><geom name='a' size='1' {seen}/><geom name='b' size='1' {seen}/>
         <body><freejoint/><geom name='c' size='1'/></body></worldbody>
         <contact><pair geom1='b' geom2='c'/></contact>"
    ));
    let names: Vec<_> = found.world.geoms().iter().map(|geom| geom.name.as_str()).collect();
    assert_eq!((names, found.visuals.len()), (vec!["b", "c"], 1));
}

#[test]
fn a_mesh_that_is_only_seen_is_not_read_but_must_exist() {
    let text = "<mujoco><compiler meshdir='m'/><asset><mesh file='a.stl' scale='2 2 2'/></asset>
        <worldbody><geom type='mesh' mesh='a' contype='0' conaffinity='0'/></worldbody></mujoco>";
    // The bytes are no mesh: reading them would be an error.
    let found = load(&[("main.xml", text), ("m/a.stl", "nonsense")]).unwrap();
    let VisualGeometry::Mesh { path, scale } = &found.visuals[0].geometry else {
        panic!("no mesh")
    };
    assert_eq!((path.to_str(), *scale), (Some("m/a.stl"), Vector3::repeat(2.0)));
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("none.xml");
    let mut files = crate::Files::on_disk();
    files.insert(&here, text.as_bytes());
    let message = crate::load_with(files, &here, &Default::default()).unwrap_err().to_string();
    assert!(message.contains("a.stl"), "{message}");
}

#[test]
fn a_mesh_has_the_mass_of_its_solid_and_stands_in_its_inertia() {
    let found = model(&format!(
        "<asset><mesh name='m' {BOX}/></asset><worldbody><body><joint/>
         <geom type='mesh' mesh='m' density='10' pos='1 0 0'/></body></worldbody>"
    ));
    let (m, com, inertia) = mass(&found, 1);
    assert!((m - 480.0).abs() <= ROUND_OFF * 480.0 && (com - Vector3::x()).amax() <= ROUND_OFF);
    let expected = Matrix3::from_diagonal(&Vector3::new(13.0, 10.0, 5.0)) * (480.0 / 3.0);
    assert!((inertia - expected).amax() <= ROUND_OFF * 2080.0, "{inertia}");
    let Shape::Convex(hull) = &found.world.geoms()[0].shape else { panic!("no hull") };
    assert_eq!(hull.vertices().len(), 8);
}

#[test]
fn a_negative_scale_mirrors_a_mesh_without_turning_it_inside_out() {
    for rule in ["legacy", "exact", "convex"] {
        let found = model(&format!(
            "<asset><mesh name='m' {BOX} refpos='-1 0 0' scale='-0.5 1 1' inertia='{rule}'/></asset>
             <worldbody><body><joint/><geom type='mesh' mesh='m' density='1'/></body></worldbody>"
        ));
        let (m, com, _) = mass(&found, 1);
        // Moved by +1 along x, then halved and mirrored.
        assert!((m - 24.0).abs() <= 24.0 * ROUND_OFF, "{rule}: {m}");
        assert!((com + Vector3::new(0.5, 0.0, 0.0)).amax() <= ROUND_OFF, "{rule}: {com}");
    }
}

#[test]
fn a_shell_of_a_mesh_has_the_mass_of_its_surface() {
    let found = model(&format!(
        "<asset><mesh name='m' {BOX} inertia='shell'/></asset><worldbody><body><joint/>
         <geom type='mesh' mesh='m' density='1'/></body></worldbody>"
    ));
    let area = 2.0 * (2.0 * 4.0 + 4.0 * 6.0 + 6.0 * 2.0);
    assert!((mass(&found, 1).0 - area).abs() <= area * ROUND_OFF);
}

#[test]
fn vertices_are_rounded_to_single_precision_before_they_are_scaled() {
    let found = model(
        "<asset><mesh name='m' vertex='0 0 0 0.1 0 0 0 0.1 0 0 0 0.1' scale='1.1 1 1'/></asset>
         <worldbody><body><joint/><geom type='mesh' mesh='m' density='1'/></body></worldbody>",
    );
    let edge = f64::from(0.1_f32);
    let expected = 1.1 * edge.powi(3) / 6.0;
    assert!((mass(&found, 1).0 - expected).abs() <= expected * ROUND_OFF);
}

#[test]
fn primitives_are_fitted_to_the_inertia_or_to_the_bounds_of_a_mesh() {
    for (fit, kind, expected) in [
        // Half sizes in the order of moments: 1, 2, 3 along the axes of decreasing moment.
        ("false", "box", vec![1.0, 2.0, 3.0]),
        ("false", "sphere", vec![2.0]),
        ("false", "cylinder", vec![1.5, 3.0]),
        ("false", "capsule", vec![1.5, 3.0 - 0.75]),
        ("true", "ellipsoid", vec![1.0, 2.0, 3.0]),
        ("true", "sphere", vec![3.0]),
        ("true", "cylinder", vec![2.0, 3.0]),
        ("true", "capsule", vec![2.0, 1.0]),
    ] {
        let found = model(&format!(
            "<compiler fitaabb='{fit}'/><asset><mesh name='m' {BOX}/></asset>
             <worldbody><geom type='{kind}' mesh='m' fitscale='2'/></worldbody>"
        ));
        let sizes = match found.world.geoms()[0].shape {
            Shape::Box(half) => half.as_slice().to_vec(),
            Shape::Ellipsoid { radii } => radii.as_slice().to_vec(),
            Shape::Sphere { radius } => vec![radius],
            Shape::Cylinder { radius, half_length } | Shape::Capsule { radius, half_length } => {
                vec![radius, half_length]
            }
            _ => panic!("another shape"),
        };
        for (found, expected) in sizes.iter().zip(&expected) {
            assert!((found - 2.0 * expected).abs() <= ROUND_OFF, "{fit} {kind}: {sizes:?}");
        }
    }
}

#[test]
fn a_height_field_has_its_upper_rows_first_in_the_text() {
    let found = model(
        "<asset><hfield name='h' nrow='2' ncol='3' elevation='1 1 3  2 2 2' size='3 2 10 1'/></asset>
         <worldbody><geom type='hfield' hfield='h'/></worldbody>",
    );
    let Shape::HeightField(field) = &found.world.geoms()[0].shape else { panic!("no field") };
    assert_eq!((field.shape(), field.size()), ((2, 3), (6.0, 4.0)));
    assert_eq!(field.heights(), [5.0, 5.0, 5.0, 0.0, 0.0, 10.0]);
}

#[test]
fn a_height_field_in_a_file_has_its_lower_rows_first() {
    let text = "<mujoco><asset><hfield name='h' file='h.bin' size='3 2 10 1'/></asset>
         <worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>";
    let mut files = crate::Files::in_memory();
    files.insert("main.xml", text.as_bytes());
    let mut bytes = [2_i32, 3].map(i32::to_le_bytes).concat();
    bytes.extend([2.0_f32, 2.0, 2.0, 1.0, 1.0, 3.0].map(f32::to_le_bytes).concat());
    files.insert("h.bin", bytes);
    let path = std::path::Path::new("main.xml");
    let found = crate::load_with(files.clone(), path, &Default::default()).unwrap();
    let Shape::HeightField(field) = &found.world.geoms()[0].shape else { panic!("no field") };
    assert_eq!(field.heights(), [5.0, 5.0, 5.0, 0.0, 0.0, 10.0]);
    files.insert("h.bin", *b"\x02\0\0\0\x03\0\0\0short");
    assert!(crate::load_with(files, path, &Default::default()).is_err());
}

#[test]
fn colours_come_from_the_geom_or_its_material() {
    let found = model(
        "<default><material rgba='0 0 1 1'/></default>
         <asset><material name='red' rgba='1 0 0 1'/><material name='blue'/></asset>
         <worldbody><geom size='1' material='red'/><geom size='1' material='blue'/>
         <geom size='1' material='red' rgba='0 1 0 1'/></worldbody>",
    );
    let colours: Vec<_> = found.world.geoms().iter().map(|geom| geom.colour).collect();
    assert_eq!(colours, [[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]]);
}

#[test]
fn geoms_that_cannot_be_are_refused() {
    for (bad, expected) in [
        ("", "positive"),
        ("type='box' size='1 1'", "3 positive"),
        ("type='cone' size='1'", "one of"),
        ("type='mesh'", "no mesh"),
        ("type='mesh' mesh='none'", "name of a mesh"),
        ("type='hfield' hfield='none'", "name of a height field"),
        ("size='1' material='none'", "name of a material"),
        ("size='1' condim='2'", "one of: 1, 3, 4, 6"),
        ("size='1' friction='-1'", "not negative"),
        ("size='1' fromto='0 0 0 1 1 1'", "capsule"),
        ("type='capsule' size='1' fromto='1 1 1 1 1 1'", "different points"),
        ("type='capsule' size='1' fromto='0 0 0 1 1 1' pos='1 0 0'", "both"),
        ("type='plane' size='1 1 0'", "last of them positive"),
        ("size='1' mass='-1'", "not negative"),
        ("size='1' contype='99999999999'", "32 bits"),
        ("size='1 2 3 4'", "at most 3"),
    ] {
        let message = error(&format!("<worldbody>\n<geom {bad}/></worldbody>"));
        assert!(message.starts_with("main.xml:2: <geom>"), "{message}");
        assert!(message.contains(expected), "{message} lacks {expected}");
    }
}
