//! The page's modules as one script.
//!
//! A browser opens no second file from a page on disk, so the modules are joined in an order in
//! which each comes after those it imports, and their `import` lines and `export` keywords are removed.
//! Each module follows a form that the tests below check: imports are whole lines of named
//! bindings, exports stand before a declaration, and no two modules use the same name at their top.

/// The modules, each after those it imports.
pub const MODULES: &[(&str, &str)] = &[
    ("maths.js", include_str!("../../page/maths.js")),
    ("codec.js", include_str!("../../page/codec.js")),
    ("palette.js", include_str!("../../page/palette.js")),
    ("patches.js", include_str!("../../page/patches.js")),
    ("recording.js", include_str!("../../page/recording.js")),
    ("camera.js", include_str!("../../page/camera.js")),
    ("shaders.js", include_str!("../../page/shaders.js")),
    ("glyphs.js", include_str!("../../page/glyphs.js")),
    ("renderer.js", include_str!("../../page/renderer.js")),
    ("player.js", include_str!("../../page/player.js")),
    ("plots.js", include_str!("../../page/plots.js")),
    ("inspector.js", include_str!("../../page/inspector.js")),
    ("controls.js", include_str!("../../page/controls.js")),
    ("main.js", include_str!("../../page/main.js")),
];

/// Modules of the page that the report on several recordings does not use.
const OF_ONE: &[&str] = &["plots.js", "inspector.js", "main.js"];

/// The report's replacement for them.
pub const SIDE_BY_SIDE: (&str, &str) = ("side.js", include_str!("../../page/side.js"));

/// All modules in one.
pub fn joined() -> String {
    join(MODULES.iter())
}

/// The modules that show several recordings side by side.
pub fn joined_side_by_side() -> String {
    let shared = MODULES.iter().filter(|(name, _)| !OF_ONE.contains(name));
    join(shared.chain([&SIDE_BY_SIDE]))
}

fn join<'a>(modules: impl Iterator<Item = &'a (&'static str, &'static str)>) -> String {
    let mut script = String::new();
    for (name, module) in modules {
        script.push_str(&format!("// {name}\n"));
        for line in module.lines().filter(|line| !line.starts_with("import ")) {
            script.push_str(line.strip_prefix("export ").unwrap_or(line));
            script.push('\n');
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Names declared at the top of a module, and whether they are exported.
    fn declared(module: &str) -> Vec<(&str, bool)> {
        module
            .lines()
            .filter_map(|line| {
                let plain = line.strip_prefix("export ").unwrap_or(line);
                let plain = plain.strip_prefix("async ").unwrap_or(plain);
                let words = ["const ", "let ", "function ", "class "];
                let rest = words.iter().find_map(|word| plain.strip_prefix(word))?;
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')?;
                Some((&rest[..end], line.starts_with("export ")))
            })
            .collect()
    }

    #[test]
    fn modules_import_only_what_earlier_ones_export_and_share_no_name() {
        check(MODULES);
        let shared = MODULES.iter().filter(|(name, _)| !OF_ONE.contains(name));
        check(&shared.chain([&SIDE_BY_SIDE]).copied().collect::<Vec<_>>());
    }

    fn check(modules: &[(&str, &str)]) {
        let mut names = HashSet::new();
        for (k, (name, module)) in modules.iter().enumerate() {
            for line in module.lines().filter(|line| line.starts_with("import ")) {
                let (bindings, from) = line
                    .strip_prefix("import { ")
                    .and_then(|rest| rest.split_once(" } from './"))
                    .unwrap_or_else(|| panic!("{name}: {line}"));
                let from = from.trim_end_matches("';");
                let source = modules[..k].iter().find(|(other, _)| *other == from);
                let (_, source) = source.unwrap_or_else(|| panic!("{name} imports {from}"));
                let exports: HashSet<_> =
                    declared(source).into_iter().filter(|d| d.1).map(|d| d.0).collect();
                for binding in bindings.split(", ") {
                    assert!(exports.contains(binding), "{name}: {binding} of {from}");
                }
            }
            for (declared, _) in declared(module) {
                assert!(names.insert(declared), "{name}: {declared} is declared twice");
            }
            assert!(!module.contains("</script") && !module.contains("<!--"), "{name}");
            assert!(!module.contains("innerHTML"), "{name}: text must stay text");
        }
    }

    #[test]
    fn no_import_or_export_is_left() {
        for script in [joined(), joined_side_by_side()] {
            assert!(!script.lines().any(|l| l.starts_with("import ") || l.starts_with("export ")));
        }
    }
}
