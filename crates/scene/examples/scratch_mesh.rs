//! scratch
#![allow(clippy::unwrap_used)]
use stiction_scene::{Files, mesh_file};
fn main() {
    for path in std::env::args().skip(1) {
        match mesh_file::read(&mut Files::on_disk(), path.as_ref()) {
            Ok(m) => {
                let lo =
                    m.corner_points().iter().copied().reduce(|a, b| a.inf(&b)).unwrap_or_default();
                let hi =
                    m.corner_points().iter().copied().reduce(|a, b| a.sup(&b)).unwrap_or_default();
                println!(
                    "{path} {} {} {:?} {:?}",
                    m.vertices.len(),
                    m.triangles.len(),
                    lo.as_slice(),
                    hi.as_slice()
                );
            }
            Err(e) => println!("ERR {e}"),
        }
    }
}
