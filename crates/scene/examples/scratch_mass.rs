//! scratch
#![allow(clippy::unwrap_used)]
use stiction_scene::{
    Files,
    mesh_file::{self, mass},
};
fn main() {
    let text = std::fs::read_to_string("/work/scratch-urdf/mass.txt").unwrap();
    let mut files = Files::on_disk();
    for line in text.lines() {
        let clean = line.replace(['[', ']', ',', '(', ')'], " ").replace("np.float64", " ");
        let w: Vec<&str> = clean.split_whitespace().collect();
        let mut mesh =
            mesh_file::read(&mut files, format!("/work/scratch-urdf/{}.obj", w[0]).as_ref())
                .unwrap();
        mesh.vertices.iter_mut().for_each(|v| *v = v.map(|x| f64::from(x as f32)));
        let f = match w[1] {
            "legacy" => mass::legacy,
            "exact" => mass::exact,
            "shell" => mass::shell,
            _ => mass::convex,
        };
        let (v, c, i) = f(&mesh).unwrap();
        let x: Vec<f64> = w[2..].iter().map(|s| s.parse().unwrap()).collect();
        let ce = (0..3).map(|k| (c[k] - x[1 + k]).abs()).fold(0.0, f64::max);
        let ie = (0..9).map(|k| (i[k] - x[4 + k]).abs()).fold(0.0, f64::max);
        println!("{} {} {:e} {:e} {:e}", w[0], w[1], (v - x[0]) / x[0], ce, ie / i.amax());
    }
}
