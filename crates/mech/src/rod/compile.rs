//! Compiles the declarations of rods for a model.

use super::{Rod, RodClamp, RodEnd, RodError, RodRest, RodSpec};
use crate::body::BodyId;
use crate::data::Data;
use crate::error::ModelError;
use crate::model::{Link, Model, TreeRange};
use nalgebra::Vector6;
use stiction_math::block;

/// Largest Poisson's ratio [-], that of an incompressible material.
const MAX_POISSON: f64 = 0.5;

/// Checks and compiles the rods of a model that is otherwise complete.
pub(crate) fn compile(specs: &[RodSpec], model: &Model) -> Result<Vec<Rod>, ModelError> {
    let mut rods: Vec<Rod> = Vec::with_capacity(specs.len());
    // Position stage at the reference configuration, for rods that are at rest in it.
    let mut data = None;
    for (index, spec) in specs.iter().enumerate() {
        let fail = |source| ModelError::Rod { rod: index, name: spec.name.clone(), source };
        spec.check().map_err(fail)?;
        let mut rod = locate(spec, model).map_err(fail)?;
        let overlaps =
            |other: &&Rod| other.trees.start < rod.trees.end && rod.trees.start < other.trees.end;
        if let Some(other) = rods.iter().find(overlaps) {
            let segment = rod.trees.start.max(other.trees.start) - rod.trees.start;
            return Err(fail(out_of_order(spec, model, segment)));
        }
        if spec.rest == RodRest::AsBuilt {
            let data = data.get_or_insert_with(|| Data::new(model));
            for bond in 0..=rod.len() {
                rod.rest[bond] = rod.bond(data, bond).map_or(Vector6::zeros(), |b| b.strain);
            }
        }
        rods.push(rod);
    }
    Ok(rods)
}

impl RodSpec {
    /// Checks that its numbers are within their permitted ranges.
    pub fn check(&self) -> Result<(), RodError> {
        if self.segments.is_empty() {
            return Err(RodError::Empty);
        }
        let positive = [
            ("segment length [m]", self.segment_length),
            ("radius [m]", self.radius),
            ("Young's modulus [Pa]", self.young),
        ];
        for (field, found) in positive {
            if !(found > 0.0 && found.is_finite()) {
                let expected = "a finite number > 0";
                return Err(RodError::Number { field, found, expected });
            }
        }
        for (field, found) in
            [("damping [s]", self.damping), ("mass damping [1/s]", self.mass_damping)]
        {
            if !(found >= 0.0 && found.is_finite()) {
                let expected = "a finite number ≥ 0";
                return Err(RodError::Number { field, found, expected });
            }
        }
        if !(self.poisson > -1.0 && self.poisson <= MAX_POISSON) {
            let (field, found) = ("Poisson's ratio", self.poisson);
            return Err(RodError::Number { field, found, expected: "−1 < ν ≤ 0.5" });
        }
        for end in &self.ends {
            let RodEnd::Clamped { pose, .. } = end else { continue };
            let mut numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
            if let Some(&found) = numbers.find(|x| !x.is_finite()) {
                let (field, expected) = ("pose of an end", "finite numbers");
                return Err(RodError::Number { field, found, expected });
            }
        }
        Ok(())
    }
}

/// Finds the trees of the segments and the bodies of the ends.
fn locate(declared: &RodSpec, model: &Model) -> Result<Rod, RodError> {
    let last = model.bodies.len() - 1;
    let find = |what: &dyn Fn() -> String, id: BodyId| {
        let unknown = || RodError::UnknownBody { what: what(), found: id.0, last };
        model.body_of_builder(id).ok_or_else(unknown)
    };
    let mut spec = declared.clone();
    let mut trees = 0..0;
    for (segment, id) in spec.segments.iter_mut().enumerate() {
        let builder_id = *id;
        *id = find(&|| format!("segment {segment}"), builder_id)?;
        let body = &model.bodies[id.0];
        let single = |tree: &usize| body.link == Some(id.0) && model.trees[*tree].single;
        let Some(tree) = body.tree.filter(single) else {
            let (body, name) = (builder_id.0, body.spec.name.clone());
            return Err(RodError::NotFree { segment, body, name });
        };
        if segment == 0 {
            trees = tree..tree;
        }
        if tree != trees.end {
            return Err(out_of_order(declared, model, segment));
        }
        trees.end += 1;
    }
    let mut clamps = [None; 2];
    for (end, clamp) in clamps.iter_mut().enumerate() {
        let RodEnd::Clamped { body, pose } = &mut spec.ends[end] else { continue };
        let builder_id = *body;
        *body = find(&|| format!("end {end}"), builder_id)?;
        let clamped_to = &model.bodies[body.0];
        if clamped_to.tree.is_some_and(|tree| trees.contains(&tree)) {
            let (body, name) = (builder_id.0, clamped_to.spec.name.clone());
            return Err(RodError::OwnSegment { end, body, name });
        }
        let grounded = clamped_to.link.is_none() && clamped_to.driver.is_none();
        *clamp = Some(RodClamp { body: *body, pose: *pose, grounded });
    }
    let n = spec.segments.len();
    let dofs = model.trees[trees.start].dofs.start..model.trees[trees.end - 1].dofs.end;
    Ok(Rod {
        stiffness: spec.stiffness_over(spec.segment_length),
        min_mass: least_mass(&model.trees[trees.clone()], &model.links),
        rest: vec![Vector6::zeros(); n + 1],
        pattern: block::Pattern::new(&vec![6; n], (1..n).map(|k| (k, k - 1))),
        spec,
        trees,
        dofs,
        clamps,
    })
}

/// Mass of the lightest segment [kg].
fn least_mass(trees: &[TreeRange], links: &[Link]) -> f64 {
    trees.iter().map(|tree| links[tree.links.start].mass).fold(f64::INFINITY, f64::min)
}

impl Rod {
    /// Takes over masses of its segments that were changed.
    pub(crate) fn update_masses(&mut self, trees: &[TreeRange], links: &[Link]) {
        self.min_mass = least_mass(&trees[self.trees.clone()], links);
    }
}

fn out_of_order(declared: &RodSpec, model: &Model, segment: usize) -> RodError {
    let id = declared.segments[segment];
    let body = model.body_of_builder(id).map(|body| &model.bodies[body.0]);
    let name = body.map_or(String::new(), |body| body.spec.name.clone());
    RodError::Order { segment, body: id.0, name }
}
