//! scratch
#![allow(clippy::unwrap_used)]
use serde_json::json;
use stiction_mech::*;
use stiction_scene::{Files, import::Options, load_with};
fn main() {
    let text = std::io::read_to_string(std::io::stdin()).unwrap();
    let mut out = Vec::new();
    for line in text.lines() {
        let w: Vec<&str> = line.split_whitespace().collect();
        let options =
            Options { floating_base: w[1] == "1", merge_fixed: w[2] == "1", ..Options::default() };
        let clock = std::time::Instant::now();
        let got = match load_with(Files::on_disk(), w[0].as_ref(), &options) {
            Ok(g) => g,
            Err(e) => {
                out.push(json!({"path": w[0], "error": e.to_string()}));
                continue;
            }
        };
        let seconds = clock.elapsed().as_secs_f64();
        let m = got.world.model();
        let mut data = Data::new(m);
        let mut s = 12345u64 + w[0].len() as u64;
        let mut rnd = || {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            (s >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
        };
        let nv = m.nv();
        let mut states = Vec::new();
        for _ in 0..3 {
            let dq: Vec<f64> = (0..nv).map(|_| 2.0 * rnd()).collect();
            let mut q = m.q0().to_vec();
            integrate(m, m.q0(), &dq, 1.0, &mut q);
            let v: Vec<f64> = (0..nv).map(|_| 2.0 * rnd()).collect();
            kinematics(m, &q, &mut data);
            velocities(m, &v, &mut data);
            mass_matrix(m, &mut data);
            bias_forces(m, &v, &mut data);
            let mut M = vec![0.0; nv * nv];
            for (t, tree) in m.trees().iter().enumerate() {
                let b = &data.mass[m.mass_range(t)];
                let n = tree.dofs.len();
                for i in 0..n {
                    for j in 0..n {
                        M[(tree.dofs.start + i) * nv + tree.dofs.start + j] = b[i * n + j];
                    }
                }
            }
            let mut poses = Vec::new();
            let mut jacs = Vec::new();
            for b in 0..m.bodies().len() {
                let p = data.body_pose[b];
                let h = p.to_homogeneous();
                poses.push(h.transpose().as_slice().to_vec());
                let mut J = vec![0.0; 6 * nv];
                jacobian(m, &data, BodyId(b), p.translation.vector, &mut J);
                jacs.push(J);
            }
            states.push(
                json!({"q": q, "v": v, "M": M, "bias": data.bias, "poses": poses, "jacs": jacs}),
            );
        }
        out.push(json!({"path": w[0], "name": got.name, "seconds": seconds, "nq": m.nq(), "nv": nv, "armature": m.armature(),
            "bodies": m.bodies().iter().map(|b| json!({"name": b.spec.name, "mass": b.spec.mass.map(|x| x.mass()), "com": b.spec.mass.map(|x| x.com().as_slice().to_vec()), "inertia": b.spec.mass.map(|x| x.inertia().as_slice().to_vec())})).collect::<Vec<_>>(),
            "joints": m.joints().iter().map(|j| json!({"name": j.spec.name, "kind": j.spec.kind.entry().name, "q": j.q.start, "v": j.dofs.start})).collect::<Vec<_>>(),
            "geoms": got.world.geoms().len(), "visuals": got.visuals.len(), "nu": m.actuators().len(),
            "unsupported": got.unsupported.iter().map(|u| format!("{} {} {}", u.place, u.physical, u.what)).collect::<Vec<_>>(), "notes": got.notes, "states": states, "mass": m.mass()}));
    }
    println!("{}", json!(out));
}
