//! Tables of the report: the runs with one column per solver and the best of each row marked, and the
//! solves of one captured step with one row per solver.
//!
//! Only solvers that finished the run can be the best of a row. Rows of times also require that nearly
//! all steps converged, since giving up early is fast, unless no solver fulfils this.

use stiction_sim::Tally;
use stiction_solve::{FrictionModel, Status};
use stiction_study::Summary;
use stiction_study::compare::{CapturedStep, ComparedRun, ComparedSolver, Comparison};

use super::numbers::{NOTHING, duration, figure, residual};
use stiction_plot::escape;

/// Largest share of unconverged steps of a solver that may be marked as the fastest.
pub const MOST_UNCONVERGED: f64 = 0.01;

/// Name of the friction model on the page.
pub fn friction(model: FrictionModel) -> &'static str {
    match model {
        FrictionModel::Coulomb => "exact",
        FrictionModel::Convex => "relaxed",
    }
}

/// For each solver, whether it finished the run.
pub fn finished(comparison: &Comparison) -> Vec<bool> {
    comparison.compared_solvers.iter().map(|c| c.finished(comparison.steps)).collect()
}

/// For each solver, whether it may be marked as the fastest.
pub fn reliable(comparison: &Comparison) -> Vec<bool> {
    let steps = comparison.steps;
    let exact = |compared: &ComparedSolver| {
        let unconverged = compared.run().map_or(usize::MAX, |run| run.summary.unconverged_steps);
        compared.finished(steps) && unconverged as f64 <= MOST_UNCONVERGED * steps as f64
    };
    let best: Vec<bool> = comparison.compared_solvers.iter().map(exact).collect();
    if best.contains(&true) { best } else { finished(comparison) }
}

/// Index of the least of the eligible values.
pub fn least(values: &[Option<f64>], eligible: &[bool]) -> Option<usize> {
    let known = values.iter().zip(eligible).enumerate();
    let known = known.filter_map(|(k, (value, fit))| value.filter(|_| *fit).map(|v| (k, v)));
    let found = known.filter(|(_, v)| v.is_finite()).min_by(|a, b| a.1.total_cmp(&b.1));
    found.map(|(k, _)| k)
}

/// A table under construction.
struct Rows<'a> {
    comparison: &'a Comparison,
    finished: Vec<bool>,
    reliable: Vec<bool>,
    out: String,
}

impl Rows<'_> {
    fn group(&mut self, name: &str) {
        let columns = self.comparison.compared_solvers.len() + 1;
        self.out += &format!("<tr class=\"group\"><th colspan=\"{columns}\">{name}</th></tr>\n");
    }

    fn open(&mut self, name: &str, about: &str) {
        self.out += &format!("<tr><th scope=\"row\">{name}<small>{about}</small></th>");
    }

    /// A row of which less is better, among some of the solvers; `show` gives the cell.
    fn ranked(
        &mut self,
        (name, about): (&str, &str),
        among: &[bool],
        value: impl Fn(&ComparedSolver, &ComparedRun) -> f64,
        show: impl Fn(&ComparedSolver, &ComparedRun) -> String,
    ) {
        let compared_solvers = &self.comparison.compared_solvers;
        let values: Vec<_> =
            compared_solvers.iter().map(|c| c.run().map(|run| value(c, run))).collect();
        // No mark if all values are equal.
        let all: Vec<f64> = values.iter().flatten().copied().collect();
        let differ = all.windows(2).any(|pair| pair[0] != pair[1]);
        let best = if differ { least(&values, among) } else { None };
        self.cells((name, about), |k, compared, run| {
            let class = if best == Some(k) { " class=\"best\"" } else { "" };
            format!("<td{class}>{}</td>", show(compared, run))
        });
    }

    /// A row without a best.
    fn cells(
        &mut self,
        (name, about): (&str, &str),
        cell: impl Fn(usize, &ComparedSolver, &ComparedRun) -> String,
    ) {
        self.open(name, about);
        for (k, compared) in self.comparison.compared_solvers.iter().enumerate() {
            self.out += &match compared.run() {
                Some(run) => cell(k, compared, run),
                None => format!("<td class=\"none\">{NOTHING}</td>"),
            };
        }
        self.out += "</tr>\n";
    }

    /// Mean and largest of a residual.
    fn tally(
        &mut self,
        words: (&str, &str),
        among: &[bool],
        of: impl Fn(&ComparedSolver, &Summary) -> Tally,
    ) {
        self.ranked(
            words,
            among,
            |compared, run| of(compared, &run.summary).mean(),
            |compared, run| {
                let tally = of(compared, &run.summary);
                let (mean, max) = (residual(tally.mean()), residual(tally.max()));
                format!("{mean}<small>max {max}</small>")
            },
        );
    }
}

/// The summary of all runs.
pub fn summary(comparison: &Comparison) -> String {
    let mut rows = Rows {
        comparison,
        finished: finished(comparison),
        reliable: reliable(comparison),
        out: String::with_capacity(1 << 14),
    };
    rows.out += "<div class=\"scroll\"><table id=\"summary\"><thead><tr><th></th>";
    for compared in &comparison.compared_solvers {
        rows.out += &format!(
            "<th scope=\"col\">{}<small>{} friction</small></th>",
            escape(&compared.solver),
            friction(compared.friction_model)
        );
    }
    rows.out += "</tr></thead><tbody>\n";
    outcome(&mut rows);
    effort(&mut rows);
    errors(&mut rows);
    motion(&mut rows);
    rows.out += "</tbody></table></div>\n";
    rows.out
}

fn outcome(rows: &mut Rows<'_>) {
    rows.group("Outcome");
    let steps = rows.comparison.steps;
    rows.open("steps done", &format!("of {steps}"));
    for compared in &rows.comparison.compared_solvers {
        rows.out += &match &compared.run {
            Ok(run) if run.summary.steps == steps => format!("<td>{steps}</td>"),
            Ok(run) => {
                format!("<td class=\"bad\">{}<small>stopped early</small></td>", run.summary.steps)
            }
            Err(_) => "<td class=\"bad\">did not run</td>".to_owned(),
        };
    }
    rows.out += "</tr>\n";
    rows.cells(("unconverged steps", "of the steps done"), |_, _, run| {
        match run.summary.unconverged_steps {
            0 => "<td>0</td>".to_owned(),
            count => format!("<td class=\"bad\">{count}</td>"),
        }
    });
    rows.cells(("the scene's own check", "its result stands below"), |_, _, run| {
        let (class, word) =
            if run.summary.check.passed { ("good", "passed") } else { ("bad", "failed") };
        format!("<td class=\"{class}\">{word}</td>")
    });
}

fn effort(rows: &mut Rows<'_>) {
    rows.group("Cost of a step");
    let reliable = rows.reliable.clone();
    type Time = fn(&Summary) -> f64;
    let times: [(&str, &str, Time); 3] = [
        ("time, mean", "", |s| s.step_times.mean),
        ("time, median", "half of the steps are faster", |s| s.step_times.p50),
        ("time, 99th percentile", "the slow steps, which decide whether real time is met", |s| {
            s.step_times.p99
        }),
    ];
    for (name, about, time) in times {
        let of = move |_: &ComparedSolver, run: &ComparedRun| time(&run.summary);
        rows.ranked((name, about), &reliable, of, move |_, run| {
            duration(1e-6 * time(&run.summary))
        });
    }
    // More is better.
    let pace = |_: &ComparedSolver, run: &ComparedRun| {
        1e6 * run.summary.time_step / run.summary.step_times.mean
    };
    let about = "simulated over computing time; above one is faster than real time";
    rows.ranked(
        ("real-time factor", about),
        &reliable,
        move |compared, run| -pace(compared, run),
        move |compared, run| format!("{} ×", figure(pace(compared, run), 3)),
    );
    let about = "differ in kind between solvers; compare times";
    rows.cells(("iterations, mean", about), |_, _, run| {
        let iterations = &run.summary.iterations;
        let (mean, max) = (figure(iterations.mean(), 3), iterations.max());
        format!("<td>{mean}<small>max {max}</small></td>")
    });
}

fn errors(rows: &mut Rows<'_>) {
    rows.group("Residual: violation of the contact laws");
    let own = |compared: &ComparedSolver, s: &Summary| match compared.friction_model {
        FrictionModel::Coulomb => s.coulomb,
        FrictionModel::Convex => s.convex,
    };
    let (finished, none) = (rows.finished.clone(), vec![false; rows.finished.len()]);
    let about = "what the solver minimises";
    rows.tally(("in its own friction model [m/s]", about), &finished, own);
    let about = "distance from dry (Coulomb) friction";
    rows.tally(("against exact friction [m/s]", about), &finished, |_, s| s.coulomb);
    // No mark: a solver for exact friction is not meant to be near relaxed friction.
    let about = "for solvers of exact friction, only the distance between the two models";
    rows.tally(("against relaxed friction [m/s]", about), &none, |_, s| s.convex);
    // No mark: for most solvers these are rounding errors.
    let about = "error of A v = b + Jᵀ λ";
    rows.tally(("momentum, relative [-]", about), &none, |_, s| s.momentum);
}

fn motion(rows: &mut Rows<'_>) {
    rows.group("Motion");
    let finished = rows.finished.clone();
    rows.ranked(
        ("deepest penetration [mm]", "at the start of any step"),
        &finished,
        |_, run| run.summary.penetration_max,
        |_, run| {
            let (max, last) = (run.summary.penetration_max, run.summary.penetration_final);
            format!("{}<small>last {}</small>", figure(1e3 * max, 2), figure(1e3 * last, 2))
        },
    );
    rows.cells(("energy at the end [J]", "and change over the run"), |_, _, run| {
        let (first, last) = (run.summary.energy_initial, run.summary.energy_final);
        format!("<td>{}<small>{}</small></td>", figure(last, 5), figure(last - first, 4))
    });
    let reference = rows.comparison.reference.map(|k| &rows.comparison.compared_solvers[k].solver);
    let about =
        reference.map(|r| format!("mean distance of the bodies from the run of {}", escape(r)));
    rows.cells(("distance at the end [mm]", about.as_deref().unwrap_or_default()), |_, _, run| {
        match run.apart {
            Some(apart) => format!("<td>{}</td>", figure(1e3 * apart, 3)),
            None => format!("<td class=\"none\">{NOTHING}</td>"),
        }
    });
    rows.cells(("state hash at the end", "equal only for bitwise equal motion"), |_, _, run| {
        let hash = format!("{:016x}", run.summary.state_hash);
        format!("<td><code title=\"{hash}\">{}</code></td>", &hash[..8])
    });
}

/// The solves of a captured step.
pub fn answers(comparison: &Comparison, captured: &CapturedStep) -> String {
    let mut out =
        "<div class=\"scroll\"><table class=\"answers\"><thead><tr><th></th><th>friction</th><th>ended</th>\
                   <th>iterations</th><th>time</th><th>own residual</th><th>exact</th>\
                   <th>relaxed</th><th>momentum</th></tr></thead><tbody>\n"
            .to_owned();
    let done = |answer: &Result<stiction_solve::Report, String>| {
        answer.as_ref().ok().filter(|report| report.status == Status::Converged).map(|r| r.seconds)
    };
    let times: Vec<Option<f64>> = captured.answers.iter().map(done).collect();
    let fastest = least(&times, &vec![true; times.len()]);
    let reference = captured.reference_velocity;
    let relative = |x: f64| residual(if reference > 0.0 { x / reference } else { x });
    for (k, (compared, answer)) in
        comparison.compared_solvers.iter().zip(&captured.answers).enumerate()
    {
        let name = escape(&compared.solver);
        out += &format!("<tr><th scope=\"row\">{name}</th>");
        out += &match answer {
            Ok(report) => {
                let (class, word) = match report.status {
                    Status::Converged => ("good", "converged"),
                    Status::IterationLimit => ("bad", "limit reached"),
                    Status::Stalled => ("bad", "stalled"),
                    Status::Failed => ("bad", "failed"),
                };
                let best = if fastest == Some(k) { " class=\"best\"" } else { "" };
                let r = &report.residuals;
                format!(
                    "<td>{}</td><td class=\"{class}\">{word}</td><td>{}</td><td{best}>{}</td>\
                     <td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
                    friction(report.friction_model),
                    report.iterations,
                    duration(report.seconds),
                    relative(r.of(report.friction_model)),
                    relative(r.coulomb),
                    relative(r.convex),
                    residual(r.momentum),
                )
            }
            Err(why) => format!("<td class=\"words bad\" colspan=\"8\">{}</td>", escape(why)),
        };
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n"
}
