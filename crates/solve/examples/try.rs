//! Scratch.
use stiction_solve::*;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let solver = &args[0];
    let tol: f64 = args[1].parse().unwrap();
    for path in &args[2..] {
        let raw =
            match file::load(path, file::LoadOptions { symmetrise: true, ..Default::default() }) {
                Ok(r) => r,
                Err(e) => {
                    println!("{path}: {e}");
                    continue;
                }
            };
        let t = std::time::Instant::now();
        let f = match Problem::from_raw(&raw) {
            Ok(r) => r,
            Err(e) => {
                println!("{path}: {e}");
                continue;
            }
        };
        let tb = t.elapsed().as_secs_f64();
        let p = &f.problem;
        let mut s = Session::new(solver).unwrap();
        let mut x = Solution::cold(p);
        let convex = std::env::var("CONVEX").is_ok();
        let goal = Goal {
            tolerance: tol,
            trace: true,
            friction_model: convex.then_some(FrictionModel::Convex),
            ..Default::default()
        };
        let r = s.solve(p, &goal, &mut x).unwrap();
        let vref = r.residuals.reference_velocity;
        println!(
            "{:40} n {:5} m {:5} isl {:4} {:?} it {:5} mom {:.1e} coul {:.1e} conv {:.1e} nat {:.1e} t {:.4} build {:.4} {:?}",
            p.name(),
            p.dofs(),
            p.rows(),
            p.islands().count(),
            r.status,
            r.iterations,
            r.residuals.momentum,
            r.residuals.coulomb / vref,
            r.residuals.convex / vref,
            r.residuals.natural_map,
            r.seconds,
            tb,
            s.notes()
        );
        if std::env::var("TRACE").is_ok() {
            for t in &r.trace {
                println!("   {:5} {:.2e} {:.2e}", t.iteration, t.residual, t.momentum);
            }
        }
        if let Some(v) = raw.extra.get(if convex { "v_ccp" } else { "v_ncp" }) {
            let v = v.to_f64();
            let w = f.velocities_to_file(&x.velocity);
            let d = v.iter().zip(&w).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            println!("     |v - v_ref| = {d:.2e}");
        }
    }
}
