//! Independent judgements of a step: each reads states and geometry, none the flags of the step.

use std::collections::BTreeMap;

use nalgebra::{Isometry3, Vector3};
use stiction_geom::Shape;
use stiction_mech::{BodyId, Model, State};
use stiction_sim::constraint::Equality;
use stiction_sim::{ContactPoint, Settings, World};

use super::convex::{PlacedConvex, depth, is_checked, separation};
use super::look::Look;
use super::pieces::{Pieces, relation};

/// Largest turn by corrections in one step [rad], as the position correction has it.
const CORRECTION_TURN: f64 = 0.1;
/// Energy growth that is allowed, relative to kinetic energy and exchanged potential energy [-], and its
/// largest value for motions that the step hardly resolves.
const ENERGY: f64 = 1e-2;
const ENERGY_MAX: f64 = 0.2;
/// Change of momentum that is allowed, relative to the sum of all momenta [-].
const MOMENTUM: f64 = 1e-6;
/// Speed to which velocities are solved: a step does not conserve the momentum of slower bodies [m/s].
const LEAST_SPEED: f64 = 1e-7;
/// Deviation of the length of a quaternion from one [-].
const QUATERNION: f64 = 1e-9;
/// Distance that counts as apart, relative to the size of shapes [-].
const APART: f64 = 1e-4;
/// The same at meshes, height fields and signed distance fields, whose contacts stand for several triangles: ten times the slop [m].
const AT_SURFACE: f64 = 1e-4;
/// Depth relative to the size of the smaller shape, error of an equality or a limit [m, rad], and steps without
/// progress.
const DEEP: f64 = 0.05;
const OPEN: f64 = 1e-3;
/// Cosine of the angle between normals of shapes that are flush [-].
const FLUSH: f64 = 0.9999;
/// Progress of turns relative to that of translations [1/m]: bodies turn about long arms as well.
const TURN_PROGRESS: f64 = 0.1;
const PATIENCE: usize = 20;

/// What is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oracle {
    /// Numbers are finite, quaternions have unit length.
    Finite,
    /// Energy does not grow without work.
    Energy,
    /// Energy does not grow over many steps.
    Drift,
    /// Momentum of isolated worlds is conserved.
    Momentum,
    /// Bodies move no farther than velocities and corrections explain.
    Jump,
    /// Shapes that are apart have no penetrating contact.
    FalseContact,
    /// Shapes that overlap have a contact.
    MissedContact,
    /// Deep penetration is removed.
    Penetration,
    /// Open equalities are closed.
    Equality,
    /// Coordinates beyond their limits return.
    Limit,
    /// A failing step leaves the state as it was.
    FailedStep,
    /// No panic.
    Panic,
}

/// All oracles.
pub const ORACLES: [Oracle; 12] = [
    Oracle::Finite,
    Oracle::Energy,
    Oracle::Drift,
    Oracle::Momentum,
    Oracle::Jump,
    Oracle::FalseContact,
    Oracle::MissedContact,
    Oracle::Penetration,
    Oracle::Equality,
    Oracle::Limit,
    Oracle::FailedStep,
    Oracle::Panic,
];

impl Oracle {
    /// Name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finite => "finite",
            Self::Energy => "energy",
            Self::Drift => "drift",
            Self::Momentum => "momentum",
            Self::Jump => "jump",
            Self::FalseContact => "false-contact",
            Self::MissedContact => "missed-contact",
            Self::Penetration => "penetration",
            Self::Equality => "equality",
            Self::Limit => "limit",
            Self::FailedStep => "failed-step",
            Self::Panic => "panic",
        }
    }

    /// The oracle of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        ORACLES.into_iter().find(|oracle| oracle.name() == name)
    }
}

/// What is wrong, by the oracle that found it.
pub type Finding = (Oracle, String);

/// Finite numbers, and quaternions of unit length.
pub fn finite(model: &Model, state: &State) -> Option<Finding> {
    let wrong = |what: String| Some((Oracle::Finite, what));
    let nodes = state.x.iter().chain(&state.x_dot).flat_map(|x| x.iter());
    if let Some(x) = state.q.iter().chain(&state.v).chain(nodes).find(|x| !x.is_finite()) {
        return wrong(format!("{x} in the state"));
    }
    for start in model.joints().iter().filter_map(|joint| joint.quaternion()) {
        let length = state.q[start..start + 4].iter().map(|x| x * x).sum::<f64>().sqrt();
        if (length - 1.0).abs() > QUATERNION || length.is_nan() {
            return wrong(format!("quaternion of length {length}"));
        }
    }
    None
}

/// Causes of a change of energy in a step, and what its scheme explains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyCauses {
    /// Upper bound on the work of actuators [J].
    pub work: f64,
    /// Potential forces times half the change of velocity, over the step [J].
    pub sampling: f64,
    /// Upper bound on the energy of position corrections [J].
    pub correction: f64,
    /// Error of the scheme relative to the energies [-].
    pub relative: f64,
    /// Error of round-off [J].
    pub round_off: f64,
}

/// Growth of energy beyond its causes.
pub fn energy(before: &Look, after: &Look, causes: &EnergyCauses) -> Option<Finding> {
    let exchanged = (after.potential - before.potential).abs();
    let growth = after.kinetic + after.potential - before.kinetic - before.potential;
    let relative = (ENERGY + causes.relative).min(ENERGY_MAX);
    let allowed = relative * (before.kinetic.max(after.kinetic) + exchanged)
        + causes.work
        + causes.sampling
        + causes.correction
        + causes.round_off;
    // A growth that is not a number belongs to the oracle of finite numbers.
    (growth > allowed).then(|| {
        let (t0, t1) = (before.kinetic, after.kinetic);
        let (v0, v1) = (before.potential, after.potential);
        let what = format!(
            "energy grew by {growth:.3e} J, explained {allowed:.3e} J; kinetic {t0:.3e} to {t1:.3e}, \
             potential {v0:.3e} to {v1:.3e}, {causes:?}"
        );
        (Oracle::Energy, what)
    })
}

/// Change of momentum of an isolated world of a mass [kg]; `gross` is the sum of all momenta without direction [N·s],
/// `scheme` the error of the scheme relative to it.
pub fn momentum(
    (before, after): (&Look, &Look),
    mass: f64,
    (gross, scheme): (f64, f64),
) -> Option<Finding> {
    let change = (after.momentum - before.momentum).norm();
    (change > (MOMENTUM + scheme) * gross + LEAST_SPEED * mass).then(|| {
        let what = format!("momentum changed by {change:.3e} N·s of {gross:.3e}");
        (Oracle::Momentum, what)
    })
}

/// Displacements that velocities and corrections do not explain.
pub fn jump(world: &World, before: &Look, after: &Look, settings: &Settings) -> Option<Finding> {
    let h = settings.time_step;
    let model = world.model();
    for tree in model.trees() {
        let links = &model.links()[tree.links.clone()];
        let largest = |values: [&Vec<f64>; 2]| {
            let of = |body: usize| values[0][body].max(values[1][body]);
            links.iter().map(|link| of(link.body)).fold(0.0, f64::max)
        };
        let speed = largest([&before.speed, &after.speed]);
        let turn = largest([&before.turn, &after.turn]);
        // Along a curved path a body moves farther than its linearisation, relative to the turn.
        let curved = 1.05 + turn * h + CORRECTION_TURN;
        let distance = curved * h * (2.0 * speed + settings.stabilisation.max_speed) + 1e-9;
        let angle = curved * (2.0 * h * turn + CORRECTION_TURN);
        for link in links {
            let [X_0, X_1] = [before, after].map(|look| look.data.body_pose[link.body]);
            let moved = (X_1.translation.vector - X_0.translation.vector).norm();
            let turned = X_0.rotation.angle_to(&X_1.rotation);
            if moved > distance || turned > angle {
                let what = format!(
                    "body {} moved {moved:.3e} m of {distance:.3e} m, turned {turned:.3e} rad of \
                     {angle:.3e} rad",
                    link.body
                );
                return Some((Oracle::Jump, what));
            }
        }
    }
    let nodes = before.state.x.iter().zip(&after.state.x);
    let rates = before.state.x_dot.iter().zip(&after.state.x_dot);
    for ((x_0, x_1), (v_0, v_1)) in nodes.zip(rates) {
        let (moved, speed) = ((x_1 - x_0).norm(), v_0.norm().max(v_1.norm()));
        let distance = 1.05 * h * (2.0 * speed + settings.stabilisation.max_speed) + 1e-9;
        if moved > distance {
            let what = format!("a vertex moved {moved:.3e} m of {distance:.3e} m");
            return Some((Oracle::Jump, what));
        }
    }
    None
}

/// A shape in the world with what it belongs to.
struct PlacedGeom<'a> {
    index: usize,
    /// The moving body it belongs to; `None` if fixed.
    link: Option<usize>,
    shape: &'a Shape,
    pose: Isometry3<f64>,
}

/// Pairs of checked shapes that may touch, near one another or with a contact.
fn near_pairs<'a>(
    world: &'a World,
    look: &Look,
    contacts: &[ContactPoint],
) -> Vec<[PlacedGeom<'a>; 2]> {
    let model = world.model();
    let placed = |index: usize| {
        let geom = &world.geoms()[index];
        let pose = look.data.body_pose[geom.body.0] * geom.pose;
        PlacedGeom { index, link: model.link(geom.body), shape: &geom.shape, pose }
    };
    let parent = |link: usize| {
        model.links().iter().find(|other| other.body == link).and_then(|other| other.parent)
    };
    let in_cable = |link: Option<usize>| {
        let tree = link.and_then(|link| model.tree(BodyId(link)));
        tree.is_some_and(|tree| model.rod_of_tree(tree).is_some())
    };
    // Bodies that an exact weld joins have no contacts: they do not move relative to one another.
    let are_welded = |a: Option<usize>, b: Option<usize>| {
        world.equalities().iter().any(|equality| {
            let Equality::Weld(weld) = equality else { return false };
            let joined = [weld.body_a, weld.body_b].map(|body| model.link(body));
            joined == [a, b] || joined == [b, a]
        })
    };
    let mut pairs = Vec::new();
    for i in 0..world.geoms().len() {
        for j in i + 1..world.geoms().len() {
            let (a, b) = (placed(i), placed(j));
            if a.link == b.link || in_cable(a.link) || in_cable(b.link) {
                continue;
            }
            if are_welded(a.link, b.link) {
                continue;
            }
            if let (Some(one), Some(other)) = (a.link, b.link)
                && (parent(one) == Some(other) || parent(other) == Some(one))
            {
                continue;
            }
            let reach = a.shape.bounding_radius() + b.shape.bounding_radius();
            let apart = (a.pose.translation.vector - b.pose.translation.vector).norm();
            if apart <= reach || contacts.iter().any(|c| c.geoms == [i, j]) {
                pairs.push([a, b]);
            }
        }
    }
    pairs
}

/// Contacts that should not be there, and contacts that should. `before` is the state in which the contacts
/// were detected.
pub fn geometry(world: &World, before: &Look, contacts: &[ContactPoint]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for [a, b] in near_pairs(world, before, contacts) {
        let pieces = (Pieces::of(a.shape, &a.pose), Pieces::of(b.shape, &b.pose));
        let (Some(first), Some(second)) = pieces else { continue };
        let Some(found) = relation(&first, &second) else { continue };
        let (distance, overlaps) = (found.distance, found.overlaps);
        let size = first.size().min(second.size());
        let between = |c: &&ContactPoint| c.geoms == [a.index, b.index];
        let names = || format!("{} {} and {} {}", a.shape.name(), a.index, b.shape.name(), b.index);
        let is_surface =
            |pieces: &Pieces| matches!(pieces, Pieces::Triangles(_) | Pieces::Field(_));
        let coarse = is_surface(&first) || is_surface(&second);
        let exact = if coarse { (APART * size).max(AT_SURFACE) } else { APART * size };
        let tolerance = exact + first.error_bound() + second.error_bound();
        let deepest = contacts.iter().filter(between).map(|c| c.gap).fold(0.0, f64::min);
        if distance > tolerance && deepest < -tolerance {
            let what =
                format!("{} are {distance:.3e} m apart, contact at {deepest:.3e} m", names());
            findings.push((Oracle::FalseContact, what));
        }
        // Of fixed shapes that are flush with one another, one contact stands for all.
        let stands_for = |c: &ContactPoint| {
            let fixed = a.link.is_none() && c.bodies[0] == 0;
            c.geoms == [a.index, b.index] || fixed && c.geoms[1] == b.index
        };
        if overlaps && !contacts.iter().any(stands_for) {
            findings.push((Oracle::MissedContact, format!("{} overlap, no contact", names())));
        }
    }
    findings
}

/// Errors that do not shrink in steps that are ok.
#[derive(Clone, Debug, Default)]
pub struct Lasting {
    /// Per pair of shapes: its depth when it began to be deep, and steps since.
    pairs: BTreeMap<(usize, usize), (f64, usize)>,
    /// Per equality and unit, and per joint with a limit: the same for its error.
    equalities: BTreeMap<(usize, usize), (f64, usize)>,
    limits: BTreeMap<usize, (f64, usize)>,
}

impl Lasting {
    /// Looks at the state after a step.
    pub fn watch(
        &mut self,
        world: &World,
        (after, contacts): (&Look, &[ContactPoint]),
        settings: &Settings,
        ok: bool,
    ) -> Vec<Finding> {
        let mut findings = Vec::new();
        let progress =
            0.05 * PATIENCE as f64 * settings.time_step * settings.stabilisation.max_speed;
        if !ok {
            *self = Self::default();
            return findings;
        }
        let mut deep = Vec::new();
        for [a, b] in near_pairs(world, after, &[]) {
            let plane = matches!(a.shape, Shape::Plane);
            if !((plane || is_checked(a.shape)) && is_checked(b.shape)) {
                continue;
            }
            let second = PlacedConvex { shape: b.shape, pose: b.pose };
            let (found, size) = if plane {
                (-second.above_plane(&a.pose), second.size())
            } else {
                let first = PlacedConvex { shape: a.shape, pose: a.pose };
                if !separation(&first, &second, 1.0 - DEEP).overlaps {
                    continue;
                }
                let of_pair = || contacts.iter().filter(|c| c.geoms == [a.index, b.index]);
                let hints: Vec<Vector3<f64>> = of_pair().map(|c| c.normal).collect();
                // Fixed shapes that are flush with one another are one obstacle: nothing leaves one of them through
                // another, and one contact stands for all.
                let mut others = contacts.iter().filter(|c| c.geoms[0] != a.index);
                let is_flush = |c: &ContactPoint| {
                    let is_along = |n: &Vector3<f64>| n.dot(&c.normal) > FLUSH;
                    c.bodies[0] == 0 && c.geoms[1] == b.index && hints.iter().all(is_along)
                };
                let found = if a.link.is_none() && others.any(is_flush) {
                    of_pair().map(|c| -c.gap).fold(0.0, f64::max)
                } else {
                    depth(&first, &second, &hints)
                };
                (found, first.size().min(second.size()))
            };
            if found > DEEP * size {
                let key = (a.index, b.index);
                let what = format!("{} {} and {} {}", a.shape.name(), key.0, b.shape.name(), key.1);
                let beside = open_beside(world, after, [a.link, b.link]);
                deep.push((key, found, beside, what));
            }
        }
        // Errors that are removed together end together, a small depth in proportion to the largest, and to open equalities.
        let largest = deep.iter().map(|(_, found, ..)| *found).fold(0.0, f64::max);
        let mut pairs = BTreeMap::new();
        for (key, found, beside, what) in deep {
            let largest = largest.max(beside);
            let (old, progress) = (self.pairs.get(&key).copied(), progress * found / largest);
            if let Some(stuck) = lasts(old, found, progress, |entry| pairs.insert(key, entry)) {
                let what = format!("{what}: {found:.3e} m deep, {stuck:.3e} m before");
                findings.push((Oracle::Penetration, what));
            }
        }
        self.pairs = pairs;
        let mut open = BTreeMap::new();
        let largest = after.equality.iter().flatten().copied().fold(0.0, f64::max);
        for (k, errors) in after.equality.iter().enumerate() {
            for (part, error) in errors.iter().enumerate().filter(|(_, error)| **error > OPEN) {
                let old = self.equalities.get(&(k, part)).copied();
                let progress = if part == 1 { TURN_PROGRESS * progress } else { progress };
                // Errors that close together end together, a small one in proportion to the largest.
                let progress = progress * error / largest;
                let keep = |entry| open.insert((k, part), entry);
                if let Some(stuck) = lasts(old, *error, progress, keep) {
                    let (name, unit) = (&world.equality_names()[k], ["m", "rad"][part]);
                    let what = format!("{name}: error {error:.3e} {unit}, {stuck:.3e} before");
                    findings.push((Oracle::Equality, what));
                }
            }
        }
        self.equalities = open;
        let mut beyond = BTreeMap::new();
        for (k, error) in after.limits.iter().enumerate().filter(|(_, error)| **error > OPEN) {
            let (old, progress) = (self.limits.get(&k).copied(), TURN_PROGRESS * progress);
            if let Some(stuck) = lasts(old, *error, progress, |entry| beyond.insert(k, entry)) {
                let what = format!("joint {k}: {error:.3e} beyond its limit, {stuck:.3e} before");
                findings.push((Oracle::Limit, what));
            }
        }
        self.limits = beyond;
        findings
    }
}

/// The largest error of the equalities that join the trees of two bodies to others or within themselves [m]: the corrections of
/// a tree remove it together with its depths.
fn open_beside(world: &World, after: &Look, links: [Option<usize>; 2]) -> f64 {
    let tree = |body: BodyId| world.model().tree(body);
    let trees = links.map(|link| link.and_then(|link| tree(BodyId(link))));
    let joins = |equality: &Equality| {
        let bodies = match equality {
            Equality::Connect(c) => [c.body_a, c.body_b],
            Equality::Distance(d) => [d.body_a, d.body_b],
            Equality::Weld(w) => [w.body_a, w.body_b],
            _ => return false,
        };
        bodies.iter().filter_map(|body| tree(*body)).any(|tree| trees.contains(&Some(tree)))
    };
    let open =
        world.equalities().iter().zip(&after.equality).filter(|(equality, _)| joins(equality));
    open.map(|(_, [error, _])| *error).fold(0.0, f64::max)
}

/// Continues the record of an error. Returns its value at the start of the record once it has lasted too long.
fn lasts<T>(
    old: Option<(f64, usize)>,
    error: f64,
    progress: f64,
    keep: impl FnOnce((f64, usize)) -> T,
) -> Option<f64> {
    let (first, steps) = old.unwrap_or((error, 0));
    let end = steps >= PATIENCE;
    keep(if end { (error, 0) } else { (first, steps + 1) });
    // Bounds on turns make corrections slow where steps are long: an error that was halved is being removed.
    (end && error > first - progress.min(0.5 * first)).then_some(first)
}

/// A failing step must not change a bit of the state.
pub fn unchanged(before: &State, after: &State) -> Option<Finding> {
    let bits = |state: &State| -> Vec<u64> {
        let nodes = state.x.iter().chain(&state.x_dot).flat_map(|x| x.iter());
        let all = std::iter::once(&state.time).chain(&state.q).chain(&state.v).chain(nodes);
        all.map(|x| x.to_bits()).collect()
    };
    (bits(before) != bits(after))
        .then(|| (Oracle::FailedStep, "a failing step changed the state".to_owned()))
}
/// Error of the scheme for a turn Ω h per step, relative to the energies [-].
pub fn scheme_error(before: &Look, after: &Look, h: f64) -> f64 {
    (Look::largest(&before.turn, &after.turn) * h).powi(2)
}
