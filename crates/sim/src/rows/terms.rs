//! Terms of a constraint: velocities of points, rotations, degrees of freedom and soft bodies.

use nalgebra::{Vector3, Vector6};
use stiction_mech::SoftRow;

use super::{ConstraintContext, RowBuilder, RowPort, SoftPoint, tree_of_dof};
use crate::world::World;

impl RowBuilder {
    /// Makes the open constraint, which has one row, soft: `c⁺ + R λ = v̂` for its next velocity. Rows are on the
    /// mean of the present velocity and the next with weight `alpha`.
    pub fn set_soft(&mut self, row: SoftRow, velocity: f64, alpha: f64) {
        self.set_bias(-(alpha * row.target + (1.0 - alpha) * velocity));
        if let Some(last) = self.rows.compliance_mut().last_mut() {
            *last = alpha * row.compliance;
        }
    }

    /// Adds velocities of a point of a body along axes, one per row, times `sign`.
    pub fn add_point_velocity(
        &mut self,
        context: &ConstraintContext,
        body: usize,
        p_W: &Vector3<f64>,
        axes_W: &[Vector3<f64>],
        sign: f64,
    ) {
        let Some(tree) = context.moving_tree(body) else { return };
        let r = p_W - context.data.reference[tree];
        self.add_spatial_velocity(context, (tree, body), axes_W.len(), |row| {
            let axis = sign * axes_W[row];
            let moment = r.cross(&axis);
            Vector6::new(moment.x, moment.y, moment.z, axis.x, axis.y, axis.z)
        });
    }

    /// Adds angular velocities of a body along axes, one per row, times `sign`.
    pub fn add_angular_velocity(
        &mut self,
        context: &ConstraintContext,
        body: usize,
        axes_W: &[Vector3<f64>],
        sign: f64,
    ) {
        let Some(tree) = context.moving_tree(body) else { return };
        self.add_spatial_velocity(context, (tree, body), axes_W.len(), |row| {
            let axis = sign * axes_W[row];
            Vector6::new(axis.x, axis.y, axis.z, 0.0, 0.0, 0.0)
        });
    }

    /// Adds velocities of a point of a soft body, given by weights of its nodes, along axes, one per
    /// row, times `sign`. Fixed vertices do not move, and partly fixed ones not along their fixed
    /// axes.
    pub fn add_soft_point_velocity(
        &mut self,
        world: &World,
        (nodes, weights): ([u32; 3], [f64; 3]),
        axes_W: &[Vector3<f64>],
        sign: f64,
    ) {
        let soft = world.softs.body_of(nodes[0]) as u32;
        // Vertices that are fixed along the same axes share one term; mostly all of them do.
        let mut done = [false; 3];
        for lead in 0..3 {
            let fixed = world.softs.fixed_axes_of(nodes[lead]);
            let mut point = SoftPoint { soft, nodes: [0; 4], weights: [0.0; 4] };
            let mut used = 0;
            for k in lead..3 {
                if done[k] || world.softs.fixed_axes_of(nodes[k]) != fixed {
                    continue;
                }
                done[k] = true;
                if weights[k] != 0.0
                    && let Some(free) = world.softs.free_index_of(nodes[k])
                {
                    (point.nodes[used], point.weights[used]) = (free, weights[k]);
                    used += 1;
                }
            }
            let along_free = |axis: &Vector3<f64>| {
                Vector3::from_fn(|i, _| if fixed[i] { 0.0 } else { sign * axis[i] })
            };
            if used == 0 || axes_W.iter().all(|axis| along_free(axis) == Vector3::zeros()) {
                continue;
            }
            // Entries with weight zero name a vertex that exists.
            let first = point.nodes[0];
            point.nodes[used..].fill(first);
            self.effect.certain = true;
            self.soft_points.push(point);
            let port = RowPort::SoftPoint((self.soft_points.len() - 1) as u32);
            let out = self.push(port, 3 * axes_W.len());
            for (row, axis) in out.chunks_exact_mut(3).zip(axes_W) {
                row.copy_from_slice(along_free(axis).as_slice());
            }
        }
    }

    /// Adds one degree of freedom of the model to a constraint of one row.
    pub fn add_dof(&mut self, context: &ConstraintContext, dof: usize, coefficient: f64) {
        let tree = tree_of_dof(context.model, dof);
        if context.asleep[tree] {
            return;
        }
        self.effect.certain |= coefficient != 0.0;
        if context.by_tree[tree] {
            let dofs = context.model.trees()[tree].dofs.clone();
            let out = self.push(RowPort::Tree(tree as u32), dofs.len());
            out[dof - dofs.start] = coefficient;
        } else {
            let port = RowPort::Dof { dof: dof as u32, tree: tree as u32 };
            self.push(port, 1).fill(coefficient);
        }
    }

    /// Adds `factor` times a gradient over the listed degrees of freedom to a constraint of one row.
    pub fn add_gradient(
        &mut self,
        context: &ConstraintContext,
        dofs: &[usize],
        factor: f64,
        write: impl FnOnce(&mut [f64]),
    ) {
        let mut gradient = std::mem::take(&mut self.gradient);
        gradient.resize(context.model.nv(), 0.0);
        write(&mut gradient);
        for &dof in dofs {
            self.add_dof(context, dof, factor * gradient[dof]);
            gradient[dof] = 0.0;
        }
        self.gradient = gradient;
    }

    /// Adds rows of the spatial velocity of a body; `row` returns the coefficients of each.
    fn add_spatial_velocity(
        &mut self,
        context: &ConstraintContext,
        (tree, body): (usize, usize),
        dim: usize,
        row: impl Fn(usize) -> Vector6<f64>,
    ) {
        let Some(link) = context.model.bodies()[body].link else { return };
        let range = &context.model.trees()[tree];
        let (start, n, nv) = (range.dofs.start, range.dofs.len(), context.model.nv());
        if context.by_tree[tree] {
            let out = self.push(RowPort::Tree(tree as u32), n * dim);
            if range.links.len() == 1 {
                // One link moves with all velocities of its tree.
                let subspace = &context.data.subspace[range.dofs.clone()];
                for (d, out) in out.chunks_exact_mut(n).enumerate() {
                    let c = row(d);
                    out.iter_mut().zip(subspace).for_each(|(out, s)| *out = c.dot(s));
                }
            } else {
                for d in 0..dim {
                    let c = row(d);
                    for k in context.path(tree, link) {
                        out[d * n + k] = c.dot(&context.data.subspace[start + k]);
                    }
                }
            }
        } else {
            let out = self.push(RowPort::Link { body: link as u32, tree: tree as u32 }, 6 * dim);
            for d in 0..dim {
                out[6 * d..6 * d + 6].copy_from_slice(row(d).as_slice());
            }
        }
        // A free body can move along every row.
        if range.links.len() == 1 && n == 6 {
            self.effect.certain = true;
            return;
        }
        for d in 0..dim {
            let c = row(d);
            for k in context.path(tree, link) {
                if self.effect.separate && self.effect.certain {
                    return;
                }
                self.effect.add(d, start + k, nv, &c, &context.data.subspace[start + k]);
            }
        }
    }
}
