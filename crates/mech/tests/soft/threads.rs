//! The same bits for every number of threads.

use crate::mesh::*;
use stiction_mech::{SoftBody, SoftSpec, SoftWorkspace};

#[test]
fn forces_stiffness_and_energy_have_the_same_bits_for_every_number_of_threads() {
    let spec = cuboid([0.1, 0.2, 0.3], [5, 7, 9], RUBBER);
    let mut rng = SplitMix64::new(51);
    for material in materials() {
        let body = SoftBody::new(SoftSpec { material, ..spec.clone() }).unwrap();
        let x = rng.shape(&body, 0.01);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut work = SoftWorkspace::new(&body);
                body.update_rotations(&x, &mut work);
                body.forces(&x, &mut work);
                body.stiffness(&x, &mut work);
                (work.force, work.stiffness.values().to_vec(), body.energy(&x).to_bits())
            })
        };
        let one = run(1);
        for threads in [2, 8] {
            assert!(run(threads) == one, "{material:?}");
        }
    }
}
