//! The text of the report: what is compared, definitions of terms, results, and captions of charts.

use std::path::Path;

use stiction_sim::Settings;
use stiction_solve::{FrictionModel, Status};
use stiction_study::SCENARIOS;
use stiction_study::compare::representative_steps::SelectionReason;
use stiction_study::compare::{CapturedStep, ComparedSolver, Comparison};

use super::numbers::{count, duration, figure, residual};
use super::table::{self, friction};
use super::{ReportProvenance, costs, figures};
use stiction_plot::escape;

/// Markup of the buttons of the clock; their names are those of the page of one run.
const CLOCK: &str = include_str!("../../page/clock.html");

/// The heading.
pub fn title(comparison: &Comparison) -> String {
    let target = Path::new(&comparison.target).file_name().map(|name| name.to_string_lossy());
    let target = target.unwrap_or_default();
    format!("{target}: {} compared", count(comparison.compared_solvers.len(), "solver"))
}

/// Everything between the page's head and its script.
pub fn body(comparison: &Comparison, making: &ReportProvenance) -> String {
    let mut out = String::with_capacity(1 << 20);
    out += "<main>\n";
    lead(&mut out, comparison);
    introduction(&mut out, comparison);
    summary(&mut out, comparison);
    motion(&mut out, comparison);
    cost(&mut out, comparison);
    over_time(&mut out, comparison);
    convergence(&mut out, comparison);
    provenance(&mut out, comparison, making);
    out + "</main>\n"
}

fn lead(out: &mut String, comparison: &Comparison) {
    let Comparison { target, steps, settings, compared_solvers, .. } = comparison;
    *out += &format!("<h1>{}</h1>\n", escape(&title(comparison)));
    let about = SCENARIOS.iter().find(|entry| entry.name == *target);
    let about = about.map(|entry| format!(": {}", escape(entry.about))).unwrap_or_default();
    let names: Vec<String> =
        compared_solvers.iter().map(|c| format!("<b>{}</b>", escape(&c.solver))).collect();
    *out += &format!(
        "<p class=\"lead\">The scene <b>{}</b>{about}. The same start, the same {} of {} ({} \
         simulated), once with each of {}.</p>\n",
        escape(target),
        count(*steps, "step"),
        duration(settings.time_step),
        duration(*steps as f64 * settings.time_step),
        listed(&names),
    );
    *out += "<nav aria-label=\"Contents\"><ol><li><a href=\"#what\">What is compared</a></li>\
             <li><a href=\"#results\">Results</a></li><li><a href=\"#motion\">Motion</a></li>\
             <li><a href=\"#cost\">Time per step</a></li><li><a href=\"#run\">Over the run</a></li>\
             <li><a href=\"#convergence\">Convergence</a></li>\
             <li><a href=\"#making\">How this was made</a></li></ol></nav>\n";
}

fn introduction(out: &mut String, comparison: &Comparison) {
    let tolerance = residual(comparison.settings.tolerance);
    *out += &format!(
        "<h2 id=\"what\">What is compared</h2>\n\
         <p>In each time step a simulator must find how hard bodies push on one another: contact \
         forces that keep them from entering each other, and friction that makes them stick or \
         slide. All contacts act on each other, so this is one system of equations and conditions \
         per step, the <em>contact problem</em>. A <em>solver</em> finds its answer step by step, \
         by iterations. Solvers differ in how long that takes, in how exact the answer is, and in \
         which law of friction they solve for.</p>\n\
         <dl class=\"terms\">\n\
         <dt>residual</dt><dd>How far an answer is from fulfilling the laws of contact, measured \
         at the worst contact as a velocity [m/s]: zero means that all laws hold. It is measured \
         on the problem after the solve, in the same way for every solver, and never taken from \
         the solver itself. The residual of momentum is the error of the equation of motion that \
         connects velocities and impulses.</dd>\n\
         <dt>exact friction</dt><dd>Coulomb’s law of dry friction: a contact sticks, or it slides \
         and friction opposes the sliding with μ times the normal force. Bodies stay in \
         contact while they slide.</dd>\n\
         <dt>relaxed friction</dt><dd>A modification of that law that makes the problem convex and \
         easier to solve; also called convex friction. It is the same where contacts stick, separate or have no friction. Where they \
         slide, bodies also lift off, by about μ times the sliding velocity: a solver for relaxed \
         friction has a residual against exact friction there, however well it converges. That \
         part is an error of the model, not of the solver.</dd>\n\
         <dt>tolerance</dt><dd>Here {tolerance}. A step counts as solved when the residual in the \
         solver’s own friction model, relative to the largest velocity that contacts would have \
         without contact forces (the <em>reference velocity</em>), and the residual of momentum are below it.</dd>\n\
         <dt>penetration</dt><dd>How deep bodies overlap. It should be small; in discrete time it \
         cannot be zero.</dd>\n\
         </dl>\n<h3>The solvers</h3>\n<dl class=\"terms\">\n"
    );
    for compared in &comparison.compared_solvers {
        *out += &format!(
            "<dt>{}</dt><dd>{}. Solves for {} friction. {}</dd>\n",
            escape(&compared.solver),
            capitalised(&escape(compared.about)),
            friction(compared.friction_model),
            solver_family(compared)
        );
    }
    *out += "</dl>\n";
}

/// Properties of a family of solvers, for readers who do not know it.
fn solver_family(compared: &ComparedSolver) -> &'static str {
    match compared.solver.as_str() {
        "alm" | "canal" | "newton-damped" | "newton-dogleg" | "sap" | "ipm" | "cond" => {
            "Each iteration solves a system of equations for all contacts at once: few, costly \
             iterations, and high accuracy near the end."
        }
        "psor" | "ssor" | "pgs" => {
            "Each iteration goes over the contacts one after the other: very cheap, quick to a \
             rough answer, slow to an exact one, above all in stacks and with unequal masses."
        }
        "apgd" => {
            "Each iteration is a gradient step on all forces, projected onto the friction cones, \
             with momentum: cheap, and more regular than sweeps over the contacts."
        }
        "admm" | "admm-subsystem" | "subadmm" => {
            "Each iteration solves bodies and contacts separately and makes them agree over \
             the iterations: cheap and robust, exact only after many of them."
        }
        "auto" => "It chooses one of the others for each problem and reports which.",
        _ => "",
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let rest = letters.as_str().trim_end_matches('.');
    format!("{first}{rest}")
}

fn summary(out: &mut String, comparison: &Comparison) {
    *out += "<h2 id=\"results\">Results</h2>\n<ul class=\"findings\">\n";
    for finding in findings(comparison) {
        *out += &format!("<li>{finding}</li>\n");
    }
    *out += "</ul>\n";
    *out += &table::summary(comparison);
    *out += &format!(
        "<p>★ marks the best of a row among solvers that finished the run; for times, among those with \
         at most {} % unconverged steps, if there are any, because giving up early is fast. Residuals are means over the steps, below them the worst step. \
         Compare the two friction models with care: the residual in a solver’s own model measures \
         the solver, the residual against exact friction also contains the error of its model.</p>\n",
        100.0 * table::MOST_UNCONVERGED
    );
    let mut verdicts = String::new();
    for compared in &comparison.compared_solvers {
        let (class, text) = match &compared.run {
            Ok(run) if run.summary.check.passed => ("good", &run.summary.check.detail),
            Ok(run) => ("bad", &run.summary.check.detail),
            Err(why) => ("bad", why),
        };
        let word = match &compared.run {
            Ok(run) if run.summary.check.passed => "passed",
            Ok(_) => "failed",
            Err(_) => "did not run",
        };
        verdicts += &format!(
            "<tr><th scope=\"row\">{}</th><td class=\"{class}\">{word}</td><td>{}</td></tr>\n",
            escape(&compared.solver),
            escape(text)
        );
    }
    *out += &format!(
        "<h3>Physical check of the scene</h3>\n<p>A scene checks its own result, whatever the \
         solver. A run that is cut short may fail for that reason alone.</p>\n\
         <div class=\"scroll\"><table class=\"list\"><tbody>\n{verdicts}</tbody></table></div>\n"
    );
}

/// Share of the wall time lost to other programs above which the report warns about its times.
const BUSY_MACHINE: f64 = 0.15;

/// CPU time and wall time of all runs [s].
fn spent(comparison: &Comparison) -> (f64, f64) {
    let runs = comparison.compared_solvers.iter().filter_map(|compared| compared.run());
    let both = runs.filter_map(|run| Some((run.summary.cpu_seconds?, run.summary.wall_seconds)));
    both.fold((0.0, 0.0), |(cpu, wall), (c, w)| (cpu + c, wall + w))
}

/// Lower bound of the share of the wall time in which the runs waited; several threads may hide some.
fn waiting_share(comparison: &Comparison) -> Option<f64> {
    let (cpu, wall) = spent(comparison);
    (cpu > 0.0).then(|| 1.0 - cpu / wall)
}

/// The main results, in sentences.
fn findings(comparison: &Comparison) -> Vec<String> {
    let compared_solvers = &comparison.compared_solvers;
    let (finished, reliable) = (table::finished(comparison), table::reliable(comparison));
    let name = |k: usize| format!("<b>{}</b>", escape(&compared_solvers[k].solver));
    let mut found = Vec::new();
    if comparison.stopped {
        found.push(
            "<span class=\"bad\">The comparison was interrupted</span> before it was complete."
                .to_owned(),
        );
    }
    let times: Vec<Option<f64>> =
        compared_solvers.iter().map(|c| c.run().map(|run| run.summary.step_times.mean)).collect();
    if let Some((k, us)) = table::least(&times, &reliable).and_then(|k| times[k].map(|t| (k, t))) {
        let pace = 1e6 * comparison.settings.time_step / us;
        found.push(format!(
            "Fastest: {}, {} per step on average, {} times real time.",
            name(k),
            duration(1e-6 * us),
            figure(pace, 3)
        ));
    }
    let own = |c: &ComparedSolver| c.own_residual().map(|tally| tally.mean());
    let exact = |c: &ComparedSolver| c.run().map(|run| run.summary.coulomb.mean());
    let of = |value: &dyn Fn(&ComparedSolver) -> Option<f64>| -> Vec<Option<f64>> {
        compared_solvers.iter().map(value).collect()
    };
    let (own, exact) = (of(&own), of(&exact));
    if let Some((k, r)) = table::least(&own, &finished).and_then(|k| own[k].map(|r| (k, r))) {
        let model = friction(compared_solvers[k].friction_model);
        found.push(format!(
            "Smallest residual in its own friction model: {} ({model} friction), {} m/s on average.",
            name(k),
            residual(r)
        ));
    }
    if let Some((k, r)) = table::least(&exact, &finished).and_then(|k| exact[k].map(|r| (k, r))) {
        found.push(format!(
            "Smallest residual against exact friction: {}, {} m/s on average.",
            name(k),
            residual(r)
        ));
    }
    let relaxed: Vec<String> = (0..compared_solvers.len())
        .filter(|&k| finished[k] && compared_solvers[k].friction_model == FrictionModel::Convex)
        .filter_map(|k| Some(format!("{} {} m/s", name(k), residual(exact[k]?))))
        .collect();
    if !relaxed.is_empty() {
        found.push(format!(
            "Model error of relaxed friction in this scene, as the mean residual against exact \
             friction: {}. Where contacts slide, no tolerance makes it smaller.",
            listed(&relaxed)
        ));
    }
    let unconverged: Vec<String> = compared_solvers
        .iter()
        .enumerate()
        .filter_map(|(k, c)| {
            let run = c.run().filter(|run| run.summary.unconverged_steps > 0)?;
            let (count, steps) = (run.summary.unconverged_steps, run.summary.steps);
            Some(format!("{} in {count} of {steps}", name(k)))
        })
        .collect();
    found.push(if unconverged.is_empty() {
        "Every solver that ran converged in all steps.".to_owned()
    } else {
        format!("Unconverged steps: {}.", listed(&unconverged))
    });
    if let Some(share) = waiting_share(comparison).filter(|share| *share > BUSY_MACHINE) {
        found.push(format!(
            "<span class=\"bad\">Compare times with care:</span> for {:.0} % of the wall time this \
             machine ran other programs; all runs together took {} of CPU time.",
            100.0 * share,
            duration(spent(comparison).0)
        ));
    }
    for (k, compared) in compared_solvers.iter().enumerate() {
        match &compared.run {
            Err(why) => found.push(format!(
                "<span class=\"bad\">{} did not run:</span> {}",
                name(k),
                escape(why)
            )),
            Ok(run) if run.summary.steps < comparison.steps => found.push(format!(
                "<span class=\"bad\">{} stopped early:</span> {}",
                name(k),
                escape(&run.summary.check.detail)
            )),
            Ok(_) => {}
        }
    }
    found
}

fn motion(out: &mut String, comparison: &Comparison) {
    *out += "<h2 id=\"motion\">Motion side by side</h2>\n\
             <p>All runs on one timeline, seen from one camera. Small differences grow with every \
             impact, so piles that fall differently may all be right. Look for errors: bodies inside each \
             other, jitter at rest, creeping, bodies that leave the scene. \
             Drag turns the camera, Shift and drag moves it, the wheel zooms, a double click fits the \
             whole run. The strip under the slider marks unconverged steps of any run.</p>\n<section id=\"views\" aria-label=\"Motion\">\n";
    for compared in &comparison.compared_solvers {
        let Some(run) = compared.run() else { continue };
        let name = escape(&compared.solver);
        let model = friction(compared.friction_model);
        let short = if compared.finished(comparison.steps) {
            format!("{model} friction")
        } else {
            format!("stopped early after {}", count(run.summary.steps, "step"))
        };
        *out += &format!(
            "<figure><canvas class=\"motion\" tabindex=\"0\" aria-label=\"Motion with {name}\">\
             </canvas><figcaption><b>{name}</b><span>{short}</span></figcaption></figure>\n"
        );
    }
    *out += "</section>\n<p id=\"message\" role=\"alert\" hidden></p>\n";
    *out += CLOCK;
    let failed: Vec<String> = comparison
        .compared_solvers
        .iter()
        .filter(|compared| compared.run.is_err())
        .map(|compared| format!("<b>{}</b>", escape(&compared.solver)))
        .collect();
    if !failed.is_empty() {
        *out += &format!("<p>Not shown, because there is no run: {}.</p>\n", listed(&failed));
    }
}

/// A chart over time with its caption; its cursor follows the clock of the motion.
fn timed_chart(out: &mut String, name: &str, svg: &str, caption: &str, comparison: &Comparison) {
    let (from, to) = figures::timeline(comparison);
    let timed = match from < to {
        true => format!(" class=\"timed\" data-from=\"{from}\" data-to=\"{to}\""),
        false => String::new(),
    };
    framed_chart(out, name, svg, caption, &timed);
}

/// A chart with its caption and a button that saves it.
fn chart(out: &mut String, name: &str, svg: &str, caption: &str) {
    framed_chart(out, name, svg, caption, "");
}

fn framed_chart(out: &mut String, name: &str, svg: &str, caption: &str, attributes: &str) {
    *out += &format!(
        "<figure{attributes}>\n{svg}<figcaption>{caption} <button class=\"keep\" type=\"button\" \
         data-name=\"{name}\">Save SVG</button></figcaption></figure>\n"
    );
}

fn cost(out: &mut String, comparison: &Comparison) {
    *out += "<h2 id=\"cost\">Time per step</h2>\n";
    let svg = costs::costs(comparison);
    if svg.is_empty() {
        *out += "<p>No solver ran.</p>\n";
        return;
    }
    chart(
        out,
        "time-per-step",
        &svg,
        "<b>How long a step takes, and for what.</b> Left: a long line from the median to the 99th \
         percentile means that some steps, such as impacts, cost much more than the usual one; at \
         its right end the mean. Right: kinematics finds where bodies are, collision what touches, \
         dynamics masses and forces, assembly the contact problem; <em>solve</em> is the solver; \
         integrate moves the bodies. All but solve are the same program for every solver, so a \
         narrow dark part means that the solver takes little of the time.",
    );
}

fn over_time(out: &mut String, comparison: &Comparison) {
    *out += "<h2 id=\"run\">Over the run</h2>\n\
             <p>Each point of a curve is the worst (of times: the mean) of the steps since the \
             point before. The vertical line is the clock of the motion above: it moves as the \
             motion plays, and a click or a drag in a chart takes the motion to that moment.</p>\n";
    timed_chart(
        out,
        "residuals",
        &figures::inline(&figures::residuals(comparison)),
        "<b>Residual.</b> Left, each solver against the law it solves for: lower is more exact, and \
         a flat line just below the tolerance is what the settings require. Right, all against exact \
         friction: solvers for relaxed friction rise wherever contacts slide.",
        comparison,
    );
    timed_chart(
        out,
        "effort",
        &figures::inline(&figures::effort(comparison)),
        "<b>Cost.</b> Peaks are impacts, where the warm start from the last step helps little. \
         Iterations are of different kinds (a Newton iteration costs much more than a sweep over \
         the contacts); compare times instead. A gap means that there was no contact.",
        comparison,
    );
    timed_chart(
        out,
        "physics",
        &figures::inline(&figures::physics(comparison)),
        "<b>Penetration and energy.</b> Penetration should return to near zero after impacts. \
         The energy of bodies that only fall, collide and slide must not rise: a rising curve means \
         that a solver adds energy, unless a motor in the scene does. Curves that end early belong \
         to runs that stopped early.",
        comparison,
    );
}

fn convergence(out: &mut String, comparison: &Comparison) {
    *out += "<h2 id=\"convergence\">Convergence on captured steps</h2>\n";
    if comparison.stopped && comparison.captured.is_empty() {
        *out += "<p>The comparison was interrupted before steps were captured.</p>\n";
        return;
    }
    let Some(reference) = comparison.reference.map(|k| &comparison.compared_solvers[k]) else {
        *out += "<p>No solver finished the run, so there is none to capture steps from.</p>\n";
        return;
    };
    if comparison.captured.is_empty() {
        *out += "<p>There was no contact in this run: no step had a contact problem.</p>\n";
        return;
    }
    *out += &format!(
        "<p>Whole runs diverge, and each solver is warm-started by its own last step. \
         To compare the methods alone, some steps of the run of <b>{}</b> were captured, and every \
         solver solved the same problems from the cold start: free motion, no contact forces. The \
         curves show the error in the solver’s own friction model: the larger of the residual, \
         divided by the reference velocity of the step, and the residual of momentum. Straight \
         lines downwards mean linear convergence: each iteration reduces the error by the same \
         factor. Curves that bend downwards converge superlinearly, as Newton’s method does near the \
         solution. Flat ends have stalled. Each solver had {} per problem.</p>\n",
        escape(&reference.solver),
        duration(comparison.time_limit)
    );
    for captured in &comparison.captured {
        one_step(out, comparison, captured);
    }
}

fn one_step(out: &mut String, comparison: &Comparison, captured: &CapturedStep) {
    let (heading, why) = match captured.reason {
        SelectionReason::Impact => {
            ("The hardest impact", "the largest sum of contact forces of the run")
        }
        SelectionReason::Median => {
            ("An ordinary step", "the median number of equations of the run")
        }
        SelectionReason::Rest => (
            "The quietest step with many contacts",
            "the least relative velocity at contacts, of steps with at least half of the most \
             equations",
        ),
    };
    let time = captured.step as f64 * comparison.settings.time_step;
    *out += &format!("<h3>{heading}: step {}</h3>\n", captured.step);
    *out += &format!(
        "<p>Chosen for {why}. At {}; {}, {} and {} of freedom; reference velocity {} m/s.</p>\n",
        duration(time),
        count(captured.contacts, "contact"),
        count(captured.rows, "equation"),
        count(captured.dofs, "degree"),
        figure(captured.reference_velocity, 3)
    );
    let left = "<b>Error over iterations and over time.</b> A marker shows where a solver stopped. \
                A solver that reaches the tolerance further left in the right chart is faster on this \
                step; one that stops above it did not converge.";
    let svg = figures::inline(&figures::convergence(comparison, captured));
    chart(out, &format!("convergence-step-{}", captured.step), &svg, left);
    *out += &table::answers(comparison, captured);
    *out += &format!("<p>{}</p>\n", outcomes(comparison, captured));
    *out += "<p><small>Residuals relative to the reference velocity. ★ the fastest that \
             converged.</small></p>\n";
}

/// How the solves of a captured step ended, in sentences.
fn outcomes(comparison: &Comparison, captured: &CapturedStep) -> String {
    let answers = || comparison.compared_solvers.iter().zip(&captured.answers);
    let tolerance = comparison.settings.tolerance;
    let reference = captured.reference_velocity;
    let of = |status: Status| -> Vec<String> {
        let ended = answers().filter_map(|(compared, answer)| {
            let report = answer.as_ref().ok().filter(|report| report.status == status)?;
            let own = report.residuals.of(report.friction_model);
            let own = if reference > 0.0 { own / reference } else { own };
            let error = own.max(report.residuals.momentum);
            let name = escape(&compared.solver);
            Some(match status {
                Status::Converged => format!("<b>{name}</b> in {}", duration(report.seconds)),
                _ => format!(
                    "<b>{name}</b> at {}, {} times the tolerance, after {}",
                    residual(error),
                    figure(error / tolerance, 2),
                    count(report.iterations, "iteration")
                ),
            })
        });
        ended.collect()
    };
    let mut sentences = Vec::new();
    let converged = of(Status::Converged);
    sentences.push(match converged.is_empty() {
        true => "No solver converged on this step.".to_owned(),
        false => format!("Converged: {}.", listed(&converged)),
    });
    for (status, head, tail) in [
        (
            Status::Stalled,
            "Stalled",
            "more iterations would not have helped: the method could no longer reduce the error",
        ),
        (
            Status::IterationLimit,
            "Ran out of iterations or of time",
            "the curve shows whether more of them would have helped",
        ),
        (Status::Failed, "Failed", "the numbers overflowed or were not finite"),
    ] {
        let ended = of(status);
        if !ended.is_empty() {
            sentences
                .push(format!("<span class=\"bad\">{head}</span>: {}; {tail}.", listed(&ended)));
        }
    }
    let refused: Vec<String> = answers()
        .filter(|(_, answer)| answer.is_err())
        .map(|(compared, _)| format!("<b>{}</b>", escape(&compared.solver)))
        .collect();
    if !refused.is_empty() {
        sentences.push(format!("Could not run: {}.", listed(&refused)));
    }
    sentences.join(" ")
}

fn provenance(out: &mut String, comparison: &Comparison, making: &ReportProvenance) {
    *out += "<h2 id=\"making\">How this was made</h2>\n";
    if !making.command.is_empty() {
        *out += &format!("<pre>{}</pre>\n", escape(&making.command));
    }
    *out += "<div class=\"scroll\"><table class=\"list\"><thead><tr><th>solver</th><th>friction</th>\
             <th>method</th><th>source</th><th>its settings</th></tr></thead><tbody>\n";
    for compared in &comparison.compared_solvers {
        let own: Vec<String> =
            compared.settings.iter().map(|(k, v)| format!("{k} = {v}")).collect();
        let own = if own.is_empty() { "default".to_owned() } else { own.join(", ") };
        let notes = compared.run().map(|run| run.notes.join("; ")).unwrap_or_default();
        let notes = if notes.is_empty() {
            String::new()
        } else {
            format!("<small>last step: {}</small>", escape(&notes))
        };
        *out += &format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}{notes}</td><td>{}</td><td>{}</td></tr>\n",
            escape(&compared.solver),
            friction(compared.friction_model),
            escape(compared.about),
            source(compared.cite),
            escape(&own)
        );
    }
    *out += "</tbody></table></div>\n<h3>Settings that all runs share</h3>\n\
             <div class=\"scroll\"><table class=\"list\"><tbody>\n";
    for (name, value) in shared(&comparison.settings) {
        *out += &format!("<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>\n");
    }
    *out += &format!(
        "</tbody></table></div>\n<footer>Stiction {}, {} on {}, {}. Times are wall times of this \
         machine; everything else is the same on every run, whatever the number of \
         threads.</footer>\n",
        env!("CARGO_PKG_VERSION"),
        count(making.threads.max(1), "thread"),
        std::env::consts::ARCH,
        std::env::consts::OS,
    );
}

/// Authors and year of a method's publication, from its key in REFERENCES.bib.
fn source(key: &str) -> String {
    match key {
        "Castro22" => "Castro, Permenter, Han 2022",
        "Lee23" => "Lee et al. 2023",
        "Lee25" => "Lee et al. 2025",
        "Mazhar15" => "Mazhar et al. 2015",
        "Tasora" => "Tasora, Anitescu",
        other => return escape(other),
    }
    .to_owned()
}

fn shared(settings: &Settings) -> Vec<(&'static str, String)> {
    let model = settings.friction_model.map_or("each solver’s own", friction);
    let limit = settings.max_iterations.map_or("each solver’s own".to_owned(), |n| n.to_string());
    let sleep = settings.sleep.map_or("off".to_owned(), |sleep| {
        format!("below {} m/s for {}", figure(sleep.speed, 2), duration(sleep.patience))
    });
    let stabilisation = &settings.stabilisation;
    vec![
        ("time step", duration(settings.time_step)),
        ("time stepping scheme", settings.scheme.name().to_owned()),
        ("tolerance", residual(settings.tolerance)),
        ("iteration limit", limit),
        ("friction", model.to_owned()),
        ("friction of two surfaces", format!("{:?}", settings.combine).to_lowercase()),
        ("penetration slop", format!("{} mm", figure(1e3 * stabilisation.slop, 2))),
        ("largest correction speed", format!("{} m/s", figure(stabilisation.max_speed, 2))),
        ("sleeping", sleep),
    ]
}

/// Joins words with commas, and with "and" before the last.
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
