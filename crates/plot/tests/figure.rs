//! Whole figures: well-formed, escaped, with every point at the position given by the formula.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use stiction_plot::{Axis, Figure, Panel, Series};

/// Fails unless every opened tag is closed in order and every attribute is quoted.
fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "stray '>' before {}", &rest[..start + 1]);
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<') && tag.matches('"').count().is_multiple_of(2), "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split([' ', '\n']).next().unwrap());
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "a number without a place was written");
}

/// Path data of the first curve named `name`, as points.
fn curve_points(svg: &str, name: &str) -> Vec<(f64, f64)> {
    let end = svg.find(&format!("><title>{name}</title></path>")).expect("the curve exists");
    let element = &svg[svg[..end].rfind("<path").unwrap()..end];
    let d = element.split("d=\"").nth(1).unwrap().split('"').next().unwrap();
    let pair = |p: &str| {
        let (x, y) = p.split_once(' ').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    d.split(['M', 'L']).filter(|p| !p.is_empty()).map(pair).collect()
}

fn log_panel() -> Panel {
    Panel::new(
        Axis::linear("iteration [-]").range(0.0, 10.0),
        Axis::log("residual [m/s]").range(1e-10, 1.0),
    )
}

#[test]
fn a_geometric_sequence_is_a_straight_line_on_a_log_axis() {
    let points: Vec<_> = (0..=10).map(|k| (f64::from(k), 0.1_f64.powi(k))).collect();
    let svg = Figure::new("")
        .panel_size(400.0, 200.0)
        .panel(log_panel().series(Series::line("s", points)));
    let svg = svg.to_svg();
    assert_well_formed(&svg);
    for (k, (x, y)) in curve_points(&svg, "s").into_iter().enumerate() {
        // 40 px per iteration and 20 px per decade; the file keeps hundredths.
        assert!((x - 40.0 * k as f64).abs() <= 0.006, "{k}: {x}");
        assert!((y - 20.0 * k as f64).abs() <= 0.006, "{k}: {y}");
    }
}

#[test]
fn a_step_holds_its_value_until_the_next_point() {
    let panel = Panel::new(Axis::linear("").range(0.0, 4.0), Axis::linear("").range(0.0, 1.0));
    let series = Series::step("s", vec![(0.0, 0.0), (2.0, 0.5), (4.0, 1.0)]);
    let svg = Figure::new("").panel_size(400.0, 200.0).panel(panel.series(series)).to_svg();
    let corners = [(0.0, 200.0), (200.0, 200.0), (200.0, 100.0), (400.0, 100.0), (400.0, 0.0)];
    assert_eq!(curve_points(&svg, "s"), corners);
}

#[test]
fn zero_lies_at_the_lower_end_and_a_gap_interrupts_the_line() {
    let points = vec![(0.0, 1.0), (1.0, 0.0), (2.0, f64::NAN), (3.0, 1e-5), (4.0, 1e-5)];
    let svg = Figure::new("")
        .panel_size(400.0, 200.0)
        .panel(log_panel().series(Series::line("s", points)));
    let svg = svg.to_svg();
    assert_well_formed(&svg);
    assert_eq!(
        curve_points(&svg, "s"),
        [(0.0, 0.0), (40.0, 200.0), (120.0, 100.0), (160.0, 100.0)]
    );
    assert!(svg.contains("M0 0L40 200M120 100L160 100"));
}

#[test]
fn curves_are_clipped_at_the_frame() {
    let points = vec![(-5.0, 1e-5), (15.0, 1e-5), (15.0, 1e300), (5.0, 1e-5)];
    let svg = Figure::new("")
        .panel_size(400.0, 200.0)
        .panel(log_panel().series(Series::line("s", points)));
    for (x, y) in curve_points(&svg.to_svg(), "s") {
        assert!((0.0..=400.0).contains(&x) && (0.0..=200.0).contains(&y), "{x} {y}");
    }
}

#[test]
fn markup_in_names_labels_and_titles_stays_text() {
    let nasty = "</svg><script>alert(\"&\")</script> 'λ' \u{0}";
    let panel = Panel::new(Axis::linear(nasty), Axis::log(nasty)).title(nasty);
    let panel = panel.series(Series::line_and_markers(nasty, vec![(1.0, 1.0), (2.0, 3.0)]));
    let svg = Figure::new(nasty).subtitle(nasty).panel(panel.guide_y(2.0, nasty)).to_svg();
    assert_well_formed(&svg);
    assert!(!svg.contains("<script") && svg.matches("</svg>").count() == 1);
}

#[test]
fn a_name_has_one_style_and_one_legend_entry_in_all_panels() {
    let two = vec![(1.0, 1.0), (2.0, 2.0)];
    let panel = |names: [&str; 2]| {
        names.into_iter().fold(Panel::new(Axis::linear("x"), Axis::linear("y")), |p, n| {
            p.series(Series::line(n, two.clone()))
        })
    };
    let svg = Figure::new("t").panel(panel(["aa", "bb"])).panel(panel(["bb", "aa"])).to_svg();
    assert_well_formed(&svg);
    for name in ["aa", "bb"] {
        let elements: Vec<&str> = svg
            .lines()
            .filter(|l| l.contains(&format!("<title>{name}</title>")))
            .map(|l| &l[..l.find(" d=").unwrap()])
            .collect();
        assert_eq!(elements.len(), 3, "two panels and the legend");
        assert!(elements.iter().all(|e| *e == elements[0]), "{elements:?}");
        assert_eq!(svg.matches(&format!(">{name}</text>")).count(), 1);
    }
}

#[test]
fn nothing_to_draw_is_still_a_figure() {
    let axes = || Panel::new(Axis::log("x"), Axis::log("y"));
    let nowhere = vec![(f64::NAN, 1.0), (1.0, f64::INFINITY), (-1.0, 1.0)];
    for figure in [
        Figure::new(""),
        Figure::new("t").panel(axes()),
        Figure::new("t").panel(axes().series(Series::line("empty", vec![]))),
        Figure::new("t").panel(axes().series(Series::step("nowhere", nowhere))),
        Figure::new("t").panel(axes().series(Series::line("one", vec![(1.0, 1.0)]))),
    ] {
        assert_well_formed(&figure.to_svg());
    }
}

#[test]
fn extreme_values_are_drawn_without_breaking_the_file() {
    let points = vec![(f64::MIN, f64::MAX), (0.0, f64::MIN_POSITIVE), (f64::MAX, 0.0)];
    for y in [Axis::linear("y"), Axis::log("y")] {
        let panel = Panel::new(Axis::linear("x"), y).series(Series::line("s", points.clone()));
        assert_well_formed(&Figure::new("t").panel(panel).to_svg());
    }
}

#[test]
fn a_written_figure_is_complete_and_leaves_no_temporary_file() {
    let folder = std::env::temp_dir().join(format!("stiction-plot-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("f.svg");
    let figure = Figure::new("t").panel(log_panel());
    figure.write(&path).unwrap();
    figure.write(&path).unwrap(); // over an older one
    assert_eq!(std::fs::read_to_string(&path).unwrap(), figure.to_svg());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    assert!(figure.write(folder.join("missing").join("f.svg")).is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}
