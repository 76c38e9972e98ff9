//! A problem and its parts.

use super::*;
use crate::law::{Coulomb, Law, Unilateral};

/// Two particles that push against one another, one that rests on the ground, one that flies.
fn three_islands() -> Problem {
    let mut builder = Problem::builder("three islands");
    let mut ports = Vec::new();
    for mass in [1.0, 2.0, 3.0, 4.0] {
        let inertia = [mass, 0.0, 0.0, 0.0, mass, 0.0, 0.0, 0.0, mass];
        let particle = builder.dense(&inertia, &[mass, -mass, 2.0 * mass]);
        ports.push(builder.port(particle, Map::Whole));
    }
    let towards = [1.0, 0.0, 0.0];
    let away = [-1.0, 0.0, 0.0];
    let stop = Law::Unilateral(Unilateral);
    builder.constraint(stop, &[-0.5], &[0.0], &[(ports[0], &towards), (ports[2], &away)]);
    let ground = [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let law = Law::Coulomb(Coulomb::new(0.3).unwrap());
    builder.constraint(law, &[0.1, 0.0, 0.0], &[0.0; 3], &[(ports[1], &ground)]);
    builder.build().unwrap()
}

#[test]
fn islands_are_what_constraints_connect() {
    let problem = three_islands();
    assert_eq!(problem.islands().of_subsystem(), [0, 1, 0, 2]);
    assert_eq!(problem.islands().of_constraint(), [0, 1]);
    assert_eq!(problem.islands().count(), 3);
}

#[test]
fn an_island_is_the_whole_seen_through_its_own_velocities_and_rows() {
    let problem = three_islands();
    let v: Vec<f64> = (0..problem.dofs()).map(|k| (k as f64 * 0.7).sin()).collect();
    let mut whole = vec![0.0; problem.rows()];
    problem.constraint_velocity(&v, &mut whole);
    let mut restriction = Restriction::new(&problem, 1);
    for island in [0, 1] {
        restriction.restrict(&problem, island);
        let part = restriction.problem();
        let local: Vec<f64> = restriction.velocities().iter().map(|k| v[*k as usize]).collect();
        let mut rows = vec![0.0; part.rows()];
        part.constraint_velocity(&local, &mut rows);
        for (k, x) in restriction.rows().iter().zip(&rows) {
            assert_eq!(whole[*k as usize], *x, "the same sums in the same order");
        }
        let mut b = part.momentum().to_vec();
        part.mass().solve(&mut b);
        assert_eq!(b, part.free_velocity());
        assert_eq!(part.reference_velocity(), problem.reference_velocity());
    }
}

#[test]
fn a_constraint_that_moves_nothing_is_refused() {
    let mut builder = Problem::builder("idle");
    let particle = builder.dense(&[1.0], &[0.0]);
    let port = builder.port(particle, Map::Whole);
    builder.constraint(Law::Unilateral(Unilateral), &[0.0], &[0.0], &[(port, &[0.0])]);
    let error = builder.build().unwrap_err();
    assert_eq!(error, crate::ProblemError::NoEffect { constraint: 0 });
}
