//! Records a scenario of the gallery: `record NAME FILE [SECONDS] [FRAMES PER SECOND] [KEY=VALUE …]`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::time::{Duration, Instant};

use stiction_sim::record::Recorder;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |k: usize| arguments.get(k).and_then(|text| text.parse::<f64>().ok());
    let (name, path) = (&arguments[1], Path::new(&arguments[2]));
    let set: Vec<(String, String)> = arguments
        .iter()
        .filter_map(|a| a.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    stiction_view::sink_of(path).unwrap();
    let mut act = stiction_scene::scenario(name, &set).unwrap().start().unwrap();
    let mut recorder = Recorder::new(&act.simulation, number(4).unwrap_or(60.0)).unwrap();
    recorder.title(name);
    let duration = number(3).unwrap_or(act.duration);
    let steps = (duration / act.simulation.settings().time_step).round() as usize;
    let (mut stepping, mut watching) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..steps {
        let start = Instant::now();
        let report = act.step().unwrap();
        let stepped = Instant::now();
        recorder.observe(&act.simulation, &report);
        stepping += stepped - start;
        watching += stepped.elapsed();
    }
    let recording = recorder.finish();
    let start = Instant::now();
    stiction_view::write(&recording, path, &stiction_view::Shot::default()).unwrap();
    println!(
        "{name}: {steps} steps {:.1} µs each, recording {:.2} µs each ({:.2} %), {} frames, {} contacts, \
         {} bytes written in {:.0} ms",
        1e6 * stepping.as_secs_f64() / steps as f64,
        1e6 * watching.as_secs_f64() / steps as f64,
        100.0 * watching.as_secs_f64() / stepping.as_secs_f64(),
        recording.len(),
        recording.frames.contacts.gap.len(),
        std::fs::metadata(path).unwrap().len(),
        1e3 * start.elapsed().as_secs_f64(),
    );
}
