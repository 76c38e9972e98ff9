//! A simulation from the plan of a world.

use nalgebra::{Isometry3, Vector3};
use stiction_geom::TetMesh;
use stiction_mech::{
    ActuatorSpec, BodyId, BodySpec, JointId, JointSpec, MassProperties, Material, SoftSpec,
    Transmission,
};
use stiction_sim::constraint::{Connect, Distance, Equality, Weld};
use stiction_sim::{
    CableCourse, CableEnd, CableSpec, Geom, Settings, Simulation, SoftObject, Surface, WorldBuilder,
};

use super::plan::{EqualityKind, Ground, WorldPlan};

/// A simulation of a planned world, and per body of the plan its joint.
pub struct BuiltWorld {
    /// The simulation, with its velocities and controls set.
    pub simulation: Simulation,
    /// Per body of the plan: body and joint of the model, `None` if left out.
    pub bodies: Vec<Option<(BodyId, JointId)>>,
}

/// Builds the world; the reason if a part is refused.
pub fn build(plan: &WorldPlan, solver: &str) -> Result<BuiltWorld, String> {
    let mut builder = WorldBuilder::new();
    builder.mechanism.gravity(plan.present_gravity());
    add_ground(plan, &mut builder);
    let bodies = add_bodies(plan, &mut builder)?;
    add_equalities(plan, &bodies, &mut builder);
    add_soft(plan, &mut builder)?;
    add_cable(plan, &mut builder);
    let world = builder.build().map_err(|error| error.to_string())?;
    let settings =
        Settings { time_step: plan.time_step, solver: solver.to_owned(), ..Settings::default() };
    let mut simulation = Simulation::new(world, settings).map_err(|error| error.to_string())?;
    let world = simulation.world().clone();
    let model = world.model();
    let of_model = |(body, joint): (BodyId, JointId)| {
        Some((model.body_of_builder(body)?, model.joint_of_builder(joint)?))
    };
    let bodies: Vec<_> = bodies.into_iter().map(|ids| ids.and_then(of_model)).collect();
    for (k, ids) in bodies.iter().enumerate() {
        let Some((_, joint)) = ids else { continue };
        if plan.has_of_body("velocity", k) {
            let dofs = model.joints()[joint.0].dofs.clone();
            simulation.state_mut().v[dofs].copy_from_slice(&plan.bodies[k].velocity);
        }
        if let Some(actuator) = plan.bodies[k].actuator
            && let Some(id) = model.actuator(&format!("actuator-{k}"))
        {
            simulation.input_mut().control[id.0] = actuator.control;
        }
    }
    if let Some(soft) = plan.soft.filter(|_| plan.has("soft")) {
        simulation.state_mut().x_dot.fill(soft.velocity);
    }
    Ok(BuiltWorld { simulation, bodies })
}

fn add_ground(plan: &WorldPlan, builder: &mut WorldBuilder) {
    if let Ground::Shapes(_, shapes) = &plan.ground
        && plan.has("ground")
    {
        for (pose, shape) in shapes {
            let geom = Geom::new(BodyId::WORLD, shape.clone()).at(*pose);
            builder.geom(geom.surface(plan.ground_surface));
        }
    }
}

fn add_bodies(
    plan: &WorldPlan,
    builder: &mut WorldBuilder,
) -> Result<Vec<Option<(BodyId, JointId)>>, String> {
    let mut ids: Vec<Option<(BodyId, JointId)>> = Vec::new();
    for (k, body) in plan.bodies.iter().enumerate() {
        if !plan.has_body(k) {
            ids.push(None);
            continue;
        }
        let (unit, com, inertia) = body.shape.mass_properties(1.0);
        let mass = MassProperties::new(body.mass, com, inertia * (body.mass / unit));
        let parent = body.parent.and_then(|p| ids[p]).map_or(BodyId::WORLD, |(id, _)| id);
        let id = builder.mechanism.body(BodySpec {
            parent,
            pose: body.pose,
            mass: Some(mass.map_err(|error| error.to_string())?),
            ..BodySpec::default()
        });
        let mut joint = JointSpec { ..body.joint.clone() };
        let absent = |feature: &str| !plan.has_of_body(feature, k);
        if absent("limit") {
            joint.limit = None;
        }
        for (feature, value) in [
            ("spring", &mut joint.stiffness),
            ("damping", &mut joint.damping),
            ("friction", &mut joint.friction_loss),
        ] {
            if absent(feature) {
                *value = 0.0;
            }
        }
        let joint = builder.mechanism.joint(id, joint);
        if let Some(actuator) = body.actuator.filter(|_| plan.has_of_body("actuator", k)) {
            let on = Transmission::Joint(joint);
            let motor = ActuatorSpec::motor(format!("actuator-{k}"), on);
            let (law, force_range) = (actuator.law, actuator.force_range);
            builder.mechanism.actuator(ActuatorSpec { law, force_range, ..motor });
        }
        if body.collides && plan.has_of_body("shape", k) {
            builder.geom(Geom::new(id, body.shape.clone()).surface(body.surface));
        }
        ids.push(Some((id, joint)));
    }
    Ok(ids)
}

fn add_equalities(plan: &WorldPlan, ids: &[Option<(BodyId, JointId)>], builder: &mut WorldBuilder) {
    for k in (0..plan.equalities.len()).filter(|k| plan.has_equality(*k)) {
        let equality = &plan.equalities[k];
        let [body_a, body_b] = equality
            .bodies
            .map(|body| body.and_then(|k| ids[k]).map_or(BodyId::WORLD, |(id, _)| id));
        let equality = match equality.kind {
            EqualityKind::Connect(point_a, point_b) => {
                Equality::Connect(Connect { body_a, point_a, body_b, point_b })
            }
            EqualityKind::Distance(point_a, point_b, distance) => {
                Equality::Distance(Distance { body_a, point_a, body_b, point_b, distance })
            }
            EqualityKind::Weld(pose) => Equality::Weld(Weld { body_a, body_b, pose }),
        };
        builder.equality(format!("equality-{k}"), equality);
    }
}

fn add_soft(plan: &WorldPlan, builder: &mut WorldBuilder) -> Result<(), String> {
    let Some(soft) = plan.soft.filter(|_| plan.has("soft")) else { return Ok(()) };
    let mesh = TetMesh::cuboid(soft.size, soft.cells).map_err(|error| error.to_string())?;
    let material = Material::LinearCorotated { young: soft.young, poisson: 0.3 };
    let (vertices, tetrahedra) = (mesh.vertices().to_vec(), mesh.tetrahedra().to_vec());
    let mut spec = SoftSpec::new(vertices, tetrahedra, material, soft.density);
    spec.stiffness_damping = soft.damping;
    // The mesh may lie anywhere about its origin: its middle comes to the pose.
    let middle = spec.vertices.iter().sum::<Vector3<f64>>() / spec.vertices.len() as f64;
    let pose = soft.pose * Isometry3::translation(-middle.x, -middle.y, -middle.z);
    builder.soft(SoftObject::new(spec.moved(&pose)).surface(Surface::with_friction(soft.friction)));
    Ok(())
}

fn add_cable(plan: &WorldPlan, builder: &mut WorldBuilder) {
    let Some(cable) = plan.cable.filter(|_| plan.has("cable")) else { return };
    let first = if cable.held { CableEnd::Held(BodyId::WORLD) } else { CableEnd::Free };
    builder.cable(CableSpec {
        course: CableCourse::Straight { pose: cable.pose, length: cable.length },
        segments: cable.segments,
        radius: cable.radius,
        young: cable.young,
        surface: Surface::with_friction(cable.friction),
        ends: [first, CableEnd::Free],
        ..CableSpec::default()
    });
}
