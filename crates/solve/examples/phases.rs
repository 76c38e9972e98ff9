//! Scratch.
use stiction_solve::solver::*;
use stiction_solve::*;
fn main() {
    let reps: usize = std::env::args().nth(1).map_or(20, |a| a.parse().unwrap());
    for size in [40usize, 100, 300, 1000] {
        let entry = catalogue::CATALOGUE.iter().find(|e| e.name == "sphere-pile").unwrap();
        let p = (entry.build)(&catalogue::Variation { size, ..Default::default() }).unwrap();
        let mut sap = Sap::default();
        for s in sap.settings() {
            if s.name == "refine" {
                s.value.set("false").unwrap();
            }
        }
        let goal = Goal { tolerance: 1e-6, ..Default::default() };
        let mut m = Monitor::default();
        let mut x = Solution::cold(&p);
        let t = std::time::Instant::now();
        let mut its = 0;
        let mut total = newton::Phases::default();
        for _ in 0..reps {
            x.reset(&p);
            m.start(&p, &goal, FrictionModel::Convex);
            let _ = sap.improve(&p, &mut m, &mut x);
            its += m.iterations();
            let ph = sap.take_phases();
            total.iterations += ph.iterations;
            total.assembly += ph.assembly;
            total.factorization += ph.factorization;
            total.line_search += ph.line_search;
        }
        let k = total.iterations as f64;
        println!(
            "{size:5} n {} m {} its/solve {:.1} per it: assembly {:.1} us factor {:.1} us line {:.1} us; per solve {:.1} us (other {:.1})",
            p.dofs(),
            p.rows(),
            its as f64 / reps as f64,
            total.assembly.as_secs_f64() / k * 1e6,
            total.factorization.as_secs_f64() / k * 1e6,
            total.line_search.as_secs_f64() / k * 1e6,
            t.elapsed().as_secs_f64() / reps as f64 * 1e6,
            (t.elapsed().as_secs_f64()
                - (total.assembly + total.factorization + total.line_search).as_secs_f64())
                / reps as f64
                * 1e6
        );
    }
}
