//! `stiction inspect`: lists the contents of a model file and its unsupported features.

use serde_json::{Map, Value, json};
use stiction_mech::{ActuatorLaw, BodyId, Joint, Model, SoftBody, Transmission};
use stiction_scene::Imported;
use stiction_scene::import::Unsupported;
use stiction_sim::{Cable, SensorSpec, World};

use crate::args::InspectArgs;
use crate::error::CommandError;
use crate::numbers::{count, significant};
use crate::scene::load;
use crate::table::{Align, Table};
use crate::terminal::{self, TextStyle, paint};

/// Runs the command; always true.
pub fn run(args: &InspectArgs) -> Result<bool, CommandError> {
    let imported = load(&args.file, &args.import)?;
    let file = args.file.display().to_string();
    let text = match args.json {
        true => format!("{:#}\n", json_of(&file, &imported)),
        false => text_of(&file, &imported, terminal::colours()),
    };
    terminal::print(&text)?;
    Ok(true)
}

/// Mass of all bodies [kg], including soft and fixed ones.
fn mass(model: &Model) -> f64 {
    let rigid = model.bodies().iter().filter_map(|body| body.spec.mass);
    let soft = model.softs().iter().map(|soft| soft.total_mass());
    rigid.map(|mass| mass.mass()).chain(soft).fold(0.0, |sum, mass| sum + mass)
}

fn json_of(file: &str, imported: &Imported) -> Value {
    let (world, model) = (&imported.world, imported.world.model());
    let body_name = |id: BodyId| &model.bodies()[id.0].spec.name;
    let unsupported = |u: &Unsupported| json!({"where": u.place.to_string(), "what": u.what, "physical": u.physical});
    let bodies = model.bodies().iter().skip(1).map(|body| {
        json!({
            "name": body.spec.name,
            "parent": body_name(body.spec.parent),
            "mass": body.spec.mass.map_or(0.0, |mass| mass.mass()),
            "joints": body.joints.clone().map(|j| joint_json(&model.joints()[j])).collect::<Vec<_>>(),
        })
    });
    let actuators = model.actuators().iter().map(|actuator| {
        let spec = &actuator.spec;
        json!({
            "name": spec.name,
            "kind": if spec.pid.is_some() { "pid" } else { law(&spec.law) },
            "controls": spec.control_count(),
            "on": target(model, &spec.transmission),
            "control_range": spec.control_range.map(|(a, b)| [a, b]),
            "force_range": spec.force_range.map(|(a, b)| [a, b]),
        })
    });
    let sites: Vec<Value> = imported
        .sites
        .iter()
        .map(|site| json!({"name": site.name, "body": body_name(site.body)}))
        .collect();
    let cameras: Vec<Value> = imported
        .cameras
        .iter()
        .map(|camera| {
            json!({
                "name": camera.name,
                "body": body_name(camera.body),
                "position": camera.pose.translation.vector.as_slice(),
                "field_of_view": camera.field_of_view,
            })
        })
        .collect();
    json!({
        "file": file,
        "format": imported.format,
        "name": imported.name,
        "nq": model.nq(),
        "nv": model.nv(),
        "nu": model.nu(),
        // Bodies besides the world.
        "bodies": model.bodies().len() - 1,
        "joints": model.joints().len(),
        // Collision shapes and visual shapes.
        "geoms": world.geoms().len() + imported.visuals.len(),
        "visuals": imported.visuals.len(),
        "tendons": model.tendons().len(),
        "equalities": world.equalities().len(),
        "mass": mass(model),
        "time_step": imported.settings.time_step,
        "gravity": model.gravity().as_slice(),
        "tree": bodies.collect::<Vec<_>>(),
        "actuators": actuators.collect::<Vec<_>>(),
        "softs": model.softs().iter().map(soft_json).collect::<Vec<_>>(),
        "cables": world.cables().iter().map(cable_json).collect::<Vec<_>>(),
        "sensors": world.sensors().iter().map(sensor_json).collect::<Vec<_>>(),
        "sites": sites,
        "cameras": cameras,
        "keyframes": imported.keyframes.iter().map(|k| k.name.as_str()).collect::<Vec<_>>(),
        "notes": imported.notes,
        "unsupported": imported.unsupported.iter().map(unsupported).collect::<Vec<_>>(),
    })
}

fn joint_json(joint: &Joint) -> Value {
    json!({
        "name": joint.spec.name,
        "kind": joint.spec.kind.entry().name,
        "q": [joint.q.start, joint.q.end],
        "v": [joint.dofs.start, joint.dofs.end],
        "range": joint.spec.limit.map(|limit| [limit.lower, limit.upper]),
    })
}

fn soft_json(soft: &SoftBody) -> Value {
    let spec = &soft.spec;
    let material = spec.material.entry();
    let values = spec.material.parameters();
    let parameters: Map<String, Value> = material
        .parameters
        .iter()
        .zip(values)
        .map(|(key, x)| (key.to_string(), json!(x)))
        .collect();
    json!({
        "name": spec.name,
        "vertices": spec.vertices.len(),
        "tetrahedra": spec.tetrahedra.len(),
        "fixed": spec.fixed.len(),
        "material": material.name,
        "parameters": parameters,
        "density": spec.density,
        "mass": soft.total_mass(),
    })
}

fn cable_json(cable: &Cable) -> Value {
    let spec = &cable.spec;
    json!({
        "name": spec.name,
        "segments": spec.segments,
        "length": cable.segment_length * spec.segments as f64,
        "radius": spec.radius,
        "young": spec.young,
        "poisson": spec.poisson,
        "density": spec.density,
    })
}

fn sensor_json(sensor: &SensorSpec) -> Value {
    json!({"name": sensor.name, "kind": sensor.kind.name(), "dim": sensor.kind.dim()})
}

fn law(law: &ActuatorLaw) -> &'static str {
    match law {
        ActuatorLaw::Motor => "motor",
        ActuatorLaw::Position { .. } => "position",
        ActuatorLaw::Velocity { .. } => "velocity",
        ActuatorLaw::Affine { .. } => "affine",
        ActuatorLaw::General { .. } if law.is_muscle() => "muscle",
        ActuatorLaw::General { .. } => "general",
    }
}

/// Name of the joint, tendon or body that an actuator acts on.
fn target(model: &Model, transmission: &Transmission) -> String {
    match transmission {
        Transmission::Joint(joint) => model.joints()[joint.0].spec.name.clone(),
        Transmission::JointDof(joint, k) => format!("{}[{k}]", model.joints()[joint.0].spec.name),
        Transmission::JointWrench(wrench) => model.joints()[wrench.joint.0].spec.name.clone(),
        Transmission::Tendon(tendon) => model.tendons()[tendon.0].spec.name.clone(),
        Transmission::Sites(pair) => model.bodies()[pair.site.body.0].spec.name.clone(),
        Transmission::SliderCrank(pair) => model.bodies()[pair.crank.body.0].spec.name.clone(),
        Transmission::Body { body, .. } | Transmission::Contacts(body) => {
            model.bodies()[body.0].spec.name.clone()
        }
    }
}

fn text_of(file: &str, imported: &Imported, colours: bool) -> String {
    let (world, model) = (&imported.world, imported.world.model());
    let heading = |text: &str| paint(text, TextStyle::Heading, colours);
    let mut out = format!("{}: {} \"{}\"\n", heading(file), imported.format, imported.name);
    out += &format!(
        "{} and {}, {}; nq {}, nv {}, nu {}; {} of mass\n",
        count_bodies(model.bodies().len() - 1),
        count(model.joints().len(), "joint"),
        count(world.geoms().len(), "collision shape"),
        model.nq(),
        model.nv(),
        model.nu(),
        kilograms(mass(model)),
    );
    let parts = [
        (model.tendons().len(), "tendon"),
        (world.cables().len(), "cable"),
        (world.sensors().len(), "sensor"),
        (imported.sites.len(), "site"),
        (imported.cameras.len(), "camera"),
        (imported.visuals.len(), "visual"),
        (imported.keyframes.len(), "keyframe"),
    ];
    let mut more: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(*n, what)).collect();
    match model.softs().len() {
        0 => {}
        1 => more.push("1 soft body".to_owned()),
        n => more.push(format!("{n} soft bodies")),
    }
    match world.equalities().len() {
        0 => {}
        1 => more.push("1 equality".to_owned()),
        n => more.push(format!("{n} equalities")),
    }
    if !more.is_empty() {
        out += &format!("{}\n", more.join(", "));
    }
    out += &format!("\n{}\n{}", heading("bodies"), bodies(imported, colours));
    if !model.softs().is_empty() {
        out += &format!("\n{}\n{}", heading("soft bodies"), softs(model, colours));
    }
    if !world.cables().is_empty() {
        out += &format!("\n{}\n{}", heading("cables"), cables(world, colours));
    }
    if model.nu() > 0 {
        out += &format!("\n{}\n{}", heading("actuators"), actuators(model, colours));
    }
    if !world.sensors().is_empty() {
        let sensors = world.sensors().iter().map(|s| format!("{} ({})", s.name, s.kind.name()));
        let sensors = sensors.collect::<Vec<_>>().join(", ");
        out += &format!("\n{}\n  {sensors}\n", heading("sensors"));
    }
    if !imported.keyframes.is_empty() {
        let called = |(n, name): (usize, &str)| {
            if name.is_empty() { n.to_string() } else { name.to_owned() }
        };
        let names = imported.keyframes.iter().map(|keyframe| keyframe.name.as_str()).enumerate();
        let names: Vec<String> = names.map(called).collect();
        out += &format!("\n{}\n  {}\n", heading("keyframes"), names.join(", "));
    }
    if !imported.notes.is_empty() {
        out += &format!("\n{}\n", heading("notes"));
        out += &imported.notes.iter().map(|note| format!("  {note}\n")).collect::<String>();
    }
    out +=
        &format!("\n{}\n{}", heading("unsupported"), unsupported(&imported.unsupported, colours));
    out
}

/// Table of soft bodies.
fn softs(model: &Model, colours: bool) -> String {
    let mut table =
        Table::new(&[Align::Left, Align::Right, Align::Right, Align::Right, Align::Left]);
    table.toned(TextStyle::Faint, &["name", "mass", "vertices", "tetrahedra", "material"]);
    for soft in model.softs() {
        let entry = soft.spec.material.entry();
        let values = entry.parameters.iter().zip(soft.spec.material.parameters());
        let values: Vec<_> =
            values.map(|(name, value)| format!("{name} {}", significant(value))).collect();
        let plain = |text: String| (text, TextStyle::Plain);
        table.row([
            plain(soft.spec.name.clone()),
            plain(kilograms(soft.total_mass())),
            plain(soft.spec.vertices.len().to_string()),
            plain(soft.spec.tetrahedra.len().to_string()),
            plain(format!("{}: {}", entry.name, values.join(", "))),
        ]);
    }
    table.render("  ", colours)
}

/// Table of cables.
fn cables(world: &World, colours: bool) -> String {
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Right]);
    table.toned(TextStyle::Faint, &["name", "segments", "length", "radius"]);
    for cable in world.cables() {
        let plain = |text: String| (text, TextStyle::Plain);
        let length = cable.segment_length * cable.spec.segments as f64;
        table.row([
            plain(cable.spec.name.clone()),
            plain(cable.spec.segments.to_string()),
            plain(format!("{} m", significant(length))),
            plain(format!("{} m", significant(cable.spec.radius))),
        ]);
    }
    table.render("  ", colours)
}

fn count_bodies(n: usize) -> String {
    if n == 1 { "1 body".to_owned() } else { format!("{n} bodies") }
}

fn kilograms(mass: f64) -> String {
    if mass == 0.0 { "0 kg".to_owned() } else { format!("{} kg", significant(mass)) }
}

/// The tree of bodies with their joints.
fn bodies(imported: &Imported, colours: bool) -> String {
    let (world, model) = (&imported.world, imported.world.model());
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Left]);
    table.toned(TextStyle::Faint, &["name", "mass", "shapes", "joints"]);
    let mut shapes = vec![0; model.bodies().len()];
    for geom in world.geoms() {
        shapes[geom.body.0] += 1;
    }
    let mut depth = vec![0; model.bodies().len()];
    for (id, body) in model.bodies().iter().enumerate() {
        if id > 0 {
            depth[id] = depth[body.spec.parent.0] + 1;
        }
        // Segments of cables are listed with their cables.
        if world.cables().iter().any(|cable| cable.bodies.contains(&BodyId(id))) {
            continue;
        }
        let name = match (id, body.spec.name.as_str()) {
            (0, "" | "world") => "world",
            (_, "") => "(no name)",
            (_, name) => name,
        };
        let mass = body.spec.mass.map_or(String::new(), |mass| kilograms(mass.mass()));
        let shape = if shapes[id] == 0 { String::new() } else { shapes[id].to_string() };
        let mut joints: Vec<String> =
            model.joints()[body.joints.clone()].iter().map(describe_joint).collect();
        if joints.is_empty() && id > 0 {
            joints.push("fixed".to_owned());
        }
        table.row([
            (format!("{}{name}", "  ".repeat(depth[id])), TextStyle::Plain),
            (mass, TextStyle::Plain),
            (shape, TextStyle::Plain),
            (joints.join("; "), TextStyle::Faint),
        ]);
    }
    table.render("  ", colours)
}

/// Name, kind and range of a joint.
fn describe_joint(joint: &Joint) -> String {
    let kind = joint.spec.kind.entry().name;
    let name = &joint.spec.name;
    let mut text = if name.is_empty() { kind.to_owned() } else { format!("{name} ({kind})") };
    if let Some(limit) = joint.spec.limit {
        let unit = if kind == "slide" { "m" } else { "rad" };
        text += &format!(" {} to {} {unit}", short(limit.lower), short(limit.upper));
    }
    text
}

/// A number with three digits.
fn short(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let sign = if x < 0.0 { "−" } else { "" };
    format!("{sign}{}", significant(x.abs()))
}

fn actuators(model: &Model, colours: bool) -> String {
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Left, Align::Left, Align::Left]);
    table.toned(TextStyle::Faint, &["name", "kind", "on", "control", "force"]);
    let range = |range: Option<(f64, f64)>| {
        range.map_or(String::new(), |(a, b)| format!("{} to {}", short(a), short(b)))
    };
    for (number, actuator) in model.actuators().iter().enumerate() {
        let spec = &actuator.spec;
        let name = if spec.name.is_empty() { format!("({number})") } else { spec.name.clone() };
        let on = target(model, &spec.transmission);
        let cells = [
            name,
            if spec.pid.is_some() { "pid" } else { law(&spec.law) }.to_owned(),
            on,
            range(spec.control_range),
            range(spec.force_range),
        ];
        table.row(cells.map(|cell| (cell, TextStyle::Plain)));
    }
    table.render("  ", colours)
}

/// Unsupported features, those that change the motion first.
fn unsupported(list: &[Unsupported], colours: bool) -> String {
    if list.is_empty() {
        return format!(
            "  {}\n",
            paint("nothing: the whole file is supported", TextStyle::Good, colours)
        );
    }
    let mut table = Table::new(&[Align::Left, Align::Left]);
    for physical in [true, false] {
        for one in list.iter().filter(|one| one.physical == physical) {
            let tone = if physical { TextStyle::Bad } else { TextStyle::Faint };
            let what = match physical {
                true => format!("{} (changes the motion)", one.what),
                false => one.what.clone(),
            };
            table.row([(one.place.to_string(), TextStyle::Plain), (what, tone)]);
        }
    }
    table.render("  ", colours)
}
