//! Calls of the command, and what they print.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs the command to its end.
pub fn stiction(args: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_stiction")).args(args).output();
    command.expect("the command runs")
}

/// Status, standard output and standard error.
pub fn run(args: &[&str]) -> (i32, String, String) {
    let output = stiction(args);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text is UTF-8");
    let status = output.status.code().expect("the command ends by itself");
    (status, text(output.stdout), text(output.stderr))
}

/// The one JSON document that a call prints, with its status.
pub fn json(args: &[&str]) -> (i32, Value) {
    let (status, stdout, stderr) = run(args);
    assert!(stderr.is_empty(), "{args:?} says {stderr}");
    (status, serde_json::from_str(&stdout).expect("one JSON document"))
}

/// A path in a folder of this test's own.
pub fn scratch(test: &str, file: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(file);
    let _ = std::fs::remove_file(&path);
    path
}

/// The keys of an object.
pub fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Status and standard error of a call whose reader goes away before it writes.
pub fn run_for_nobody(args: &[&str]) -> (Option<i32>, Vec<u8>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stiction"))
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    (output.status.code(), output.stderr)
}
