//! ALM on random variations of the golden problems.

use std::path::Path;

use stiction_testkit::data::{NamedTest, files_in};
use stiction_testkit::trials;

use crate::common::load_problem;
use crate::common::variation::check;

/// Tests of this module.
pub const TRIALS: &[NamedTest] = trials![alm_solves_every_variation_of_the_golden_problems];

fn alm_solves_every_variation_of_the_golden_problems(folder: &Path) {
    let origins: Vec<_> = files_in(folder, "npz").iter().map(|path| load_problem(path).0).collect();
    check(&origins, 1000);
}
