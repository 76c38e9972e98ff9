//! Draws one time of a recording at a size of choice: `picture RECORDING FILE.png WIDTH HEIGHT SECONDS [forces]`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use stiction_sim::record::container;
use stiction_view::png;
use stiction_view::raster::Look;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, from, to, width, height, time, rest @ ..] = arguments.as_slice() else {
        panic!("expected a recording, a file, a width, a height and a time");
    };
    let opened = container::read(&std::fs::read(from).unwrap()).unwrap();
    let look = Look {
        width: width.parse().unwrap(),
        height: height.parse().unwrap(),
        forces: rest.iter().any(|word| word == "forces"),
        ..Look::still()
    };
    png::write_with(&opened.recording, Path::new(to), &look, time.parse().unwrap()).unwrap();
}
