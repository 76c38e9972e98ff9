//! Scratch.
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let set: Vec<(String, String)> = args[1..]
        .iter()
        .filter_map(|a| a.split_once('='))
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect();
    let (mut own, mut solver, mut dur, mut verbose) = (vec![], "auto".to_string(), None, 0usize);
    for (k, v) in set {
        match k.as_str() {
            "solver" => solver = v,
            "time" => dur = v.parse::<f64>().ok(),
            "every" => verbose = v.parse().unwrap(),
            _ => own.push((k, v)),
        }
    }
    let mut stage = stiction_scene::scenario(&args[0], &own).unwrap();
    stage.settings.solver = solver;
    if let Some(d) = dur {
        stage.duration = d
    }
    let mut act = stage.start().unwrap();
    let n = act.steps();
    let t = Instant::now();
    let mut ph = [0.0; 6];
    let (mut it, mut maxit, mut bad, mut soft, mut con, mut pen) = (0, 0, 0, 0, 0, 0.0f64);
    let mut tail = 0.0;
    for k in 0..n {
        let r = act.step().unwrap();
        for (p, d) in ph.iter_mut().zip(r.phases.all()) {
            *p += d.as_secs_f64() * 1e6 / n as f64
        }
        if k * 5 >= n * 4 {
            tail += r.phases.total().as_secs_f64() * 1e6 / (n as f64 / 5.0)
        }
        it += r.iterations;
        maxit = maxit.max(r.iterations);
        con += r.contacts;
        pen = pen.max(r.penetration);
        bad += usize::from(!r.converged());
        soft += usize::from(r.softened);
        if std::env::var("DEEP").is_ok() && r.penetration > 5e-4 {
            if let Some(c) = act.simulation.contacts().iter().min_by(|a, b| a.gap.total_cmp(&b.gap))
            {
                let w = act.simulation.world();
                let same: Vec<_> = act
                    .simulation
                    .contacts()
                    .iter()
                    .filter(|d| d.geoms == c.geoms)
                    .map(|d| format!("{:.5}", d.gap))
                    .collect();
                println!(
                    "step {k} gap {:.5} {}-{} n {:.2?} v {:.3?} pair {:?}",
                    c.gap,
                    w.geoms()[c.geoms[0]].shape.name(),
                    w.geoms()[c.geoms[1]].shape.name(),
                    c.normal.as_slice(),
                    c.velocity.as_slice(),
                    same
                );
            }
        }
        if let Ok(limit) = std::env::var("SLOW")
            && r.phases.total().as_secs_f64() * 1e6 > limit.parse::<f64>().unwrap()
        {
            println!(
                "step {k} us {:.0} it {} con {} rows {} res {:.2e} vref {:.2e} mom {:.1e} {:?} {:?}",
                r.phases.total().as_secs_f64() * 1e6,
                r.iterations,
                r.contacts,
                r.rows,
                r.residuals.coulomb,
                r.residuals.reference_velocity,
                r.residuals.momentum,
                r.status,
                act.simulation.notes()
            );
        }
        if verbose > 0 && k % verbose == 0 {
            let e = act.simulation.energy();
            println!(
                "{k} E {e:.6} it {} con {} pen {:.2e} res {:.2e} {:?} eq {:.1e} asleep {} us {:.0}",
                r.iterations,
                r.contacts,
                r.penetration,
                r.residuals.coulomb,
                r.status,
                r.equality_error,
                r.asleep,
                r.phases.total().as_secs_f64() * 1e6
            );
        }
    }
    println!(
        "{n} steps {:.3} s; mean us {:?} total {:.1} tail {:.1}; it mean {:.2} max {maxit}; con {:.1}; bad {bad} soft {soft}; pen {:.3e}; hash {:x}",
        t.elapsed().as_secs_f64(),
        ph.map(|x| (x * 10.0).round() / 10.0),
        ph.iter().sum::<f64>(),
        tail,
        it as f64 / n as f64,
        con as f64 / n as f64,
        pen,
        stiction_sim::state_hash(act.simulation.state())
    );
    let vm = act.simulation.state().v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    println!("max |v| {vm:.3e}; {:?}", act.check.verdict());
}
