//! `<geom>`: collision shapes, masses, visual shapes.
//!
//! A geom that collides neither by its bits nor by an explicit pair is visual only, unless a sensor reads its
//! distance. A mesh touches by its convex hull, as in MuJoCo, one of type sdf by its triangles; a primitive with
//! a mesh is fitted to the mesh. Where there are rangefinders, rays meet the triangles of meshes and planes of their
//! visible size.

use nalgebra::{Isometry3, Translation3, Vector3};
use stiction_geom::field::GridSign;
use stiction_geom::{FieldSolid, Shape};

use super::asset;
use super::build::{Build, ContactTerms, GeomKind};
use super::inertial::MassLump;
use super::mesh::{self, MeshSolid};
use super::orientation;
use super::sdf_plugin::{self, PluginSolid};
use super::solid;
use super::surface;
use crate::error::SceneError;
use crate::field_cache::FieldCache;
use crate::import::VisualGeometry;
use crate::xml::Element;

/// Words for kinds.
pub(super) const KINDS: [(&str, GeomKind); 9] = [
    ("plane", GeomKind::Plane),
    ("hfield", GeomKind::HeightField),
    ("sphere", GeomKind::Sphere),
    ("capsule", GeomKind::Capsule),
    ("ellipsoid", GeomKind::Ellipsoid),
    ("cylinder", GeomKind::Cylinder),
    ("box", GeomKind::Box),
    ("mesh", GeomKind::Mesh),
    ("sdf", GeomKind::Sdf),
];

/// Default density [kg/m³].
const DENSITY: f64 = 1000.0;

/// Default colour.
const COLOUR: [f32; 4] = [0.5, 0.5, 0.5, 1.0];

/// A geom of the file.
#[derive(Clone, Debug)]
pub(super) struct GeomRead {
    pub name: String,
    pub element: Element,
    pub kind: GeomKind,
    pub size: Vector3<f64>,
    /// Pose in the frame of the body; a mesh is in the frame of its inertia.
    pub pose: Isometry3<f64>,
    pub contact: ContactTerms,
    /// Whether it collides; if not, it may be part of the world for sensors.
    pub touches: bool,
    /// Shape in the world.
    pub shape: Option<Shape>,
    /// Shape that rays meet in its place.
    pub ray_shape: Option<Shape>,
    /// Visual geometry and its pose, if it does not collide.
    pub visual: Option<(VisualGeometry, Isometry3<f64>)>,
    pub colour: [f32; 4],
    /// Its contribution to the mass of its body.
    pub lump: Option<MassLump>,
    /// Coefficients of the fluid model of ellipsoids, if it applies.
    pub fluid: Option<[f64; 5]>,
}

/// Requirements of the body on a geom.
#[derive(Clone, Copy, Debug)]
pub(super) struct GeomRequirements {
    /// Whether its mass counts.
    pub mass: bool,
    /// Whether the body is fixed.
    pub still: bool,
    /// Whether a sensor reads distances of its geoms.
    pub sensed: bool,
}

/// Reads `<geom>` with its defaults merged; `frame` is the pose of the enclosing frames in the body.
pub(super) fn read(
    build: &mut Build,
    element: &Element,
    frame: &Isometry3<f64>,
    requirements: GeomRequirements,
) -> Result<GeomRead, SceneError> {
    for seen in ["user", "castshadow"] {
        element.get(seen);
    }
    let name = element.get("name").unwrap_or_default().to_owned();
    let kind = element.choice("type", &KINDS)?.unwrap_or(GeomKind::Sphere);
    let contact = surface::terms(element)?;
    let by_bits = contact.contype != 0 || contact.conaffinity != 0;
    let touches = build.flags.contact && (by_bits || build.paired.contains(&name));
    let in_world = touches || requirements.sensed || build.sensed.geoms.contains(&name);
    let mass = mass(build, element, requirements)?;
    let mut geom = GeomRead {
        name,
        element: element.clone(),
        kind,
        size: Vector3::from(element.array_or("size", [0.0; 3])?),
        pose: orientation::pose(element, build.compiler(element))?,
        contact,
        touches,
        shape: None,
        ray_shape: None,
        visual: None,
        colour: colour(build, element)?,
        lump: None,
        fluid: fluid(element)?,
    };
    special_surfaces(build, element)?;
    if kind != GeomKind::Sdf && element.child("plugin").is_some() {
        build.report_unsupported(&element.place, "the plugin of a geom that is no sdf");
    }
    let fitted = element.get("mesh").map(str::to_owned);
    let fit_scale = element.number("fitscale")?.unwrap_or(1.0);
    if let Some(ends) = ends(element)? {
        ends.place(&mut geom)?;
    }
    let shell = element.boolean("shellinertia")? == Some(true);
    match (kind, &fitted) {
        (GeomKind::Mesh | GeomKind::Sdf, None) => {
            return Err(element.error("no mesh; expected the name of one"));
        }
        (GeomKind::Mesh | GeomKind::Sdf, Some(mesh)) => {
            if shell {
                let expected = "shells of meshes to be requested where the mesh is declared";
                return Err(element.wrong("shellinertia", expected));
            }
            with_mesh(build, &mut geom, mesh, in_world, mass, frame)?;
        }
        (GeomKind::HeightField, _) => with_field(build, &mut geom, in_world, requirements)?,
        (GeomKind::Plane, _) => {
            if !requirements.still {
                return Err(element.error("a plane on a body that moves; expected a fixed one"));
            }
            if !(geom.size.z > 0.0) {
                return Err(element.wrong("size", "three numbers, the last of them positive"));
            }
        }
        (_, Some(mesh)) => {
            if !fit(build, &mut geom, mesh, fit_scale)? {
                return Ok(geom);
            }
        }
        (_, None) => check_size(&geom)?,
    }
    geom.pose = frame * geom.pose;
    if let Some((_, pose)) = &mut geom.visual {
        *pose = frame * *pose;
    }
    if kind != GeomKind::Mesh && kind != GeomKind::Sdf {
        finish(&mut geom, in_world, mass, shell)?;
    }
    if build.sensed.rays && kind == GeomKind::Plane {
        geom.ray_shape = rectangle(&geom.size);
    }
    Ok(geom)
}

/// Shape, visual and mass of a geom that is not a mesh.
fn finish(
    geom: &mut GeomRead,
    in_world: bool,
    mass: Option<Mass>,
    shell: bool,
) -> Result<(), SceneError> {
    if geom.kind != GeomKind::HeightField {
        let shape = primitive(geom.kind, &geom.size).map_err(|fault| geom.element.error(fault))?;
        if in_world {
            geom.shape = Some(shape);
        } else {
            geom.visual = Some((VisualGeometry::Shape(shape), geom.pose));
        }
    }
    if let (Some(mass), true) = (mass, geom.kind != GeomKind::Plane) {
        let measure = solid::measure(geom.kind, &geom.size, shell);
        let mass = mass.of(measure);
        let moments = solid::inertia(geom.kind, &geom.size, shell) * mass;
        geom.lump = Some(MassLump::principal(mass, moments, &geom.pose));
    }
    Ok(())
}

/// The part of a plane that is drawn, which is what rays meet; `None` if all of it is drawn.
fn rectangle(size: &Vector3<f64>) -> Option<Shape> {
    const WITHOUT_END: f64 = 1e5;
    let [x, y] = [size.x, size.y].map(|half| if half > 0.0 { half } else { WITHOUT_END });
    let drawn_whole = !(size.x > 0.0) && !(size.y > 0.0);
    let corners = [(-x, -y), (x, -y), (x, y), (-x, y)].map(|(x, y)| Vector3::new(x, y, 0.0));
    let sheet = || Shape::mesh(&corners, &[[0, 1, 2], [0, 2, 3]]).ok();
    (!drawn_whole).then(sheet).flatten()
}

/// Mass or density of a geom.
#[derive(Clone, Copy, Debug)]
enum Mass {
    Given(f64),
    Density(f64),
}

impl Mass {
    fn of(self, measure: f64) -> f64 {
        match self {
            Self::Given(mass) => mass,
            Self::Density(density) => density * measure,
        }
    }
}

/// The mass of a geom, `None` if it has none or none is needed.
fn mass(
    build: &Build,
    element: &Element,
    requirements: GeomRequirements,
) -> Result<Option<Mass>, SceneError> {
    let (mass, density) = (element.number("mass")?, element.number("density")?);
    for (name, found) in [("mass", mass), ("density", density)] {
        if found.is_some_and(|found| found < 0.0) {
            return Err(element.wrong(name, "a number that is not negative"));
        }
    }
    let group = element.integer("group")?.unwrap_or(0);
    let (first, last) = build.compiler(element).mass_groups;
    let mass = match mass {
        Some(mass) => Mass::Given(mass),
        None => Mass::Density(density.unwrap_or(DENSITY)),
    };
    let counts = requirements.mass && (first..=last).contains(&group) && mass.of(1.0) > 0.0;
    Ok(counts.then_some(mass))
}

fn colour(build: &Build, element: &Element) -> Result<[f32; 4], SceneError> {
    let own = asset::colour(element)?.filter(|colour| *colour != COLOUR);
    let material = match element.get("material") {
        Some(name) => match build.assets.materials.get(name) {
            Some(colour) => Some(*colour),
            None => return Err(element.wrong("material", "the name of a material")),
        },
        None => None,
    };
    Ok(own.or(material).unwrap_or(COLOUR))
}

/// MuJoCo's coefficients of blunt, slender and angular drag, of Kutta lift and of Magnus lift.
const FLUID: [f64; 5] = [0.5, 0.25, 1.5, 1.0, 1.0];

/// Coefficients of the fluid model of ellipsoids, if the geom is one for it.
fn fluid(element: &Element) -> Result<Option<[f64; 5]>, SceneError> {
    let shape = element.choice("fluidshape", &[("none", false), ("ellipsoid", true)])?;
    let coefficients = element.array_or("fluidcoef", FLUID)?;
    Ok(Some(coefficients).filter(|_| shape == Some(true)))
}

/// Lists attributes of moving or adhesive surfaces.
fn special_surfaces(build: &mut Build, element: &Element) -> Result<(), SceneError> {
    for (name, what) in [("surfacevel", "surfaces that move"), ("adhesion", "surfaces that stick")]
    {
        if element.numbers(name)?.is_some_and(|parts| parts.iter().any(|part| *part != 0.0)) {
            build.report_unsupported(&element.place, format!("{name}: {what} are not read"));
        }
    }
    Ok(())
}

/// Sizes that must be positive, by kind.
fn check_size(geom: &GeomRead) -> Result<(), SceneError> {
    let needed = sizes(geom.kind);
    if geom.size.iter().take(needed).all(|size| *size > 0.0) {
        return Ok(());
    }
    let expected = match needed {
        1 => "a positive number".to_owned(),
        needed => format!("{needed} positive numbers"),
    };
    Err(geom.element.wrong("size", &expected))
}

/// How many sizes a kind has.
fn sizes(kind: GeomKind) -> usize {
    match kind {
        GeomKind::Sphere => 1,
        GeomKind::Capsule | GeomKind::Cylinder => 2,
        GeomKind::Ellipsoid | GeomKind::Box => 3,
        GeomKind::Plane | GeomKind::HeightField | GeomKind::Mesh | GeomKind::Sdf => 0,
    }
}

/// The signed distance of a mesh, with 48 cells along its longest side.
fn sampled_field(
    mesh: &stiction_geom::shape::Mesh,
    fields: &mut FieldCache,
) -> Result<Shape, stiction_geom::ShapeError> {
    let cell = mesh.local_bounds().size().max() / 48.0;
    Shape::field(FieldSolid::Grid(fields.sampled(mesh.clone(), cell, GridSign::Closed)?), None)
}

fn primitive(kind: GeomKind, size: &Vector3<f64>) -> Result<Shape, stiction_geom::ShapeError> {
    match kind {
        GeomKind::Sphere => Shape::sphere(size.x),
        GeomKind::Capsule => Shape::capsule(size.x, size.y),
        GeomKind::Cylinder => Shape::cylinder(size.x, size.y),
        GeomKind::Ellipsoid => Shape::ellipsoid(*size),
        GeomKind::Box => Shape::cuboid(*size),
        GeomKind::Plane | GeomKind::HeightField | GeomKind::Mesh | GeomKind::Sdf => {
            Ok(Shape::Plane)
        }
    }
}

/// Both ends of the axis of a geom or site.
pub(super) struct Ends {
    from: Vector3<f64>,
    to: Vector3<f64>,
    element: Element,
}

/// `fromto`, if it is given.
pub(super) fn ends(element: &Element) -> Result<Option<Ends>, SceneError> {
    let Some([a, b, c, d, e, f]) = element.array::<6>("fromto")? else { return Ok(None) };
    let (from, to) = (Vector3::new(a, b, c), Vector3::new(d, e, f));
    if element.vector("pos")?.is_some_and(|pos| pos != Vector3::zeros()) {
        return Err(element.error("both pos and fromto; expected one of them"));
    }
    Ok(Some(Ends { from, to, element: element.clone() }))
}

impl Ends {
    /// Pose and sizes: z points from the second end to the first.
    pub fn pose_and_size(
        &self,
        kind: GeomKind,
        size: &Vector3<f64>,
    ) -> Result<(Isometry3<f64>, Vector3<f64>), SceneError> {
        let along = self.from - self.to;
        let half = along.norm() / 2.0;
        if !(half > f64::MIN_POSITIVE.sqrt() && half.is_finite()) {
            return Err(self.element.wrong("fromto", "two different points"));
        }
        let size = match kind {
            GeomKind::Capsule | GeomKind::Cylinder => Vector3::new(size.x, half, size.z),
            GeomKind::Ellipsoid | GeomKind::Box => Vector3::new(size.x, size.x, half),
            _ => {
                let expected = "a capsule, cylinder, ellipsoid or box to have ends";
                return Err(self.element.wrong("fromto", expected));
            }
        };
        let axis = orientation::direction(&self.element, "fromto", along)?;
        let middle = Translation3::from((self.from + self.to) / 2.0);
        Ok((Isometry3::from_parts(middle, orientation::from_z(&axis)), size))
    }

    fn place(&self, geom: &mut GeomRead) -> Result<(), SceneError> {
        let size = geom.size;
        (geom.pose, geom.size) = self.pose_and_size(geom.kind, &size)?;
        if matches!(geom.kind, GeomKind::Capsule | GeomKind::Cylinder) {
            geom.size.z = 0.0;
        }
        Ok(())
    }
}

/// The mesh of a name, or an error at the geom. A geom `acts` if it is part of the world or has mass.
fn mesh_of(
    build: &mut Build,
    geom: &GeomRead,
    name: &str,
    acts: bool,
) -> Result<Option<std::rc::Rc<MeshSolid>>, SceneError> {
    let Some(mesh) = build.assets.meshes.get(name) else {
        return Err(geom.element.wrong("mesh", "the name of a mesh"));
    };
    if let Some(word) = mesh.generated() {
        let what = format!("mesh \"{name}\": {word} is not generated; its geom is left out");
        if acts {
            build.report_unsupported(&geom.element.place, what);
        } else {
            build.report_ignored(&geom.element.place, what);
        }
        return Ok(None);
    }
    mesh::solid(build, name)
}

/// The shape of a plugin of signed distances, of the geom or of its mesh, in a frame whose pose in that of the mesh is given.
fn described_field(
    build: &mut Build,
    geom: &GeomRead,
    mesh: &str,
    pose: &Isometry3<f64>,
) -> Result<Option<Shape>, SceneError> {
    let own = sdf_plugin::read(build, &geom.element)?;
    let of_mesh = build.assets.meshes.get(mesh).and_then(|mesh| mesh.field());
    let (solid, width) = match own {
        Some(PluginSolid::Field(solid, width)) => (solid, width),
        Some(PluginSolid::Unknown(kind)) => {
            let what = format!("the plugin {kind} of a geom: the distance of its mesh acts");
            build.report_unsupported(&geom.element.place, what);
            return Ok(None);
        }
        _ => match of_mesh {
            Some((solid, width)) => (solid.clone(), width),
            None => return Ok(None),
        },
    };
    let solid = match *pose == Isometry3::identity() {
        true => solid,
        false => FieldSolid::Placed(pose.inverse(), Box::new(solid)),
    };
    let made = Shape::field(solid, width);
    Ok(Some(made.map_err(|fault| geom.element.error(fault))?))
}

/// A geom that is a mesh. It is read only if it is part of the world, has mass, or if rays may meet it.
fn with_mesh(
    build: &mut Build,
    geom: &mut GeomRead,
    name: &str,
    in_world: bool,
    mass: Option<Mass>,
    frame: &Isometry3<f64>,
) -> Result<(), SceneError> {
    let written = geom.pose;
    let visual = build.assets.meshes.get(name).and_then(|mesh| mesh.visual());
    if !in_world && let Some((path, place, scale)) = visual.clone() {
        geom.visual = Some((VisualGeometry::Mesh { path, scale }, written * place));
        if mass.is_none() && !build.sensed.rays {
            return Ok(());
        }
    }
    let acts = in_world || mass.is_some();
    let Some(solid) = mesh_of(build, geom, name, acts)? else { return Ok(()) };
    geom.pose = written * solid.pose;
    geom.size = solid.half_box;
    let surface =
        if geom.kind == GeomKind::Sdf || build.sensed.rays { solid.surface() } else { None };
    if build.sensed.rays {
        geom.ray_shape.clone_from(&surface);
    }
    let described = match geom.kind {
        GeomKind::Sdf => described_field(build, geom, name, &solid.pose)?,
        _ => None,
    };
    if in_world {
        let fault =
            |fault| geom.element.error(format_args!("the hull of mesh \"{name}\": {fault}"));
        let by_surface = match surface.filter(|_| geom.kind == GeomKind::Sdf) {
            _ if geom.kind == GeomKind::Sdf && described.is_some() => described,
            Some(Shape::Mesh(mesh)) => {
                let sampled = sampled_field(&mesh, &mut build.files.fields);
                if let Err(fault) = &sampled {
                    build.note(format!("sdf: mesh \"{name}\": its triangles touch: {fault}"));
                }
                Some(sampled.unwrap_or(Shape::Mesh(mesh)))
            }
            other => other,
        };
        geom.shape = Some(by_surface.map_or_else(|| solid.hull().map_err(fault), Ok)?);
    } else if visual.is_none() {
        geom.visual = solid.hull().ok().map(|hull| (VisualGeometry::Shape(hull), geom.pose));
    }
    if let Some(mass) = mass {
        let Some((measure, moments)) = solid.integrals else {
            return Err(geom.element.error(format_args!(
                "mesh \"{name}\" has no volume; expected one, or inertia = \"shell\" where it is \
                 declared, or no mass"
            )));
        };
        let mass = mass.of(measure);
        let pose = frame * geom.pose;
        geom.lump = Some(MassLump::principal(mass, moments * (mass / measure), &pose));
    }
    Ok(())
}

/// Gives a primitive the place and the size of a mesh: by its inertia, or by the box around it.
fn fit(build: &mut Build, geom: &mut GeomRead, name: &str, scale: f64) -> Result<bool, SceneError> {
    let Some(solid) = mesh_of(build, geom, name, true)? else { return Ok(false) };
    let by_bounds = build.compiler(&geom.element).fit_bounds;
    let [low, high] = solid.bounds;
    let half = if by_bounds { (high - low) / 2.0 } else { solid.half_box };
    let centre = if by_bounds { (high + low) / 2.0 } else { Vector3::zeros() };
    let across = if by_bounds { half.x.max(half.y) } else { (half.x + half.y) / 2.0 };
    let size = match geom.kind {
        GeomKind::Sphere if by_bounds => Vector3::new(half.max(), 0.0, 0.0),
        GeomKind::Sphere => Vector3::new(half.mean(), 0.0, 0.0),
        GeomKind::Capsule if by_bounds => Vector3::new(across, half.z - across, 0.0),
        GeomKind::Capsule => Vector3::new(across, (half.z - across / 2.0).max(0.0), 0.0),
        GeomKind::Cylinder => Vector3::new(across, half.z, 0.0),
        _ => half,
    };
    geom.size = size * scale;
    geom.pose = geom.pose * solid.pose * Translation3::from(centre);
    check_size(geom)?;
    Ok(true)
}

/// A geom that is a height field.
fn with_field(
    build: &mut Build,
    geom: &mut GeomRead,
    in_world: bool,
    requirements: GeomRequirements,
) -> Result<(), SceneError> {
    let element = &geom.element;
    let name = element.require("hfield")?;
    let Some(field) = build.assets.height_fields.get(name) else {
        return Err(element.wrong("hfield", "the name of a height field"));
    };
    let [x, y, top, bottom] = field.size;
    // The box whose mass MuJoCo gives to a height field.
    geom.size = Vector3::new(x, y, 0.25 * top + 0.5 * bottom);
    let shape = field.shape().map_err(|fault| geom.element.error(fault))?;
    if !in_world {
        geom.visual = Some((VisualGeometry::Shape(shape), geom.pose));
    } else if requirements.still {
        geom.shape = Some(shape);
    } else {
        let what = "a height field on a body that moves: it touches nothing";
        build.report_unsupported(&geom.element.place, what);
        geom.visual = Some((VisualGeometry::Shape(shape), geom.pose));
    }
    Ok(())
}

#[cfg(test)]
#[path = "geom_tests.rs"]
mod tests;
