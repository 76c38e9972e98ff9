//! From files to one tree of elements: the root `<mujoco>` with every `<include>` replaced by the
//! children of the included file's root.
//!
//! A name in an include is searched for beside the main file, as MuJoCo does, then beside the file
//! that includes. A file may be included once; a cycle is reported with the chain that closes it.

use std::path::{Path, PathBuf};

use crate::error::SceneError;
use crate::files::{Files, without_dots};
use crate::xml::Element;

/// Elements inside elements after inclusion, at most.
const DEEPEST: usize = 200;

/// A model file and what it includes.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// The root with its sections, in the order of the text.
    pub root: Element,
    /// Folder of the main file.
    pub folder: PathBuf,
    /// The main file.
    pub path: PathBuf,
}

impl Document {
    /// Reads a file and everything that it includes.
    pub fn read(files: &mut Files, path: &Path) -> Result<Self, SceneError> {
        let path = without_dots(path);
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let root = Element::read(files, &path)?;
        if root.tag != "mujoco" {
            return Err(root.error("found this root; expected <mujoco>"));
        }
        let mut splice =
            IncludeExpansion { files, folder: &folder, chain: vec![path.clone()], seen: vec![] };
        let root = splice.element(root, 0)?;
        Ok(Self { root, folder, path })
    }

    /// Name of the model in the file, or the name of the file.
    pub fn name(&self) -> String {
        let stem = || self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let given = self.root.get("model").filter(|name| !name.is_empty()).map(str::to_owned);
        given.or_else(stem).unwrap_or_default()
    }
}

/// Replaces includes.
struct IncludeExpansion<'a> {
    files: &'a mut Files,
    folder: &'a Path,
    /// The files whose inclusion is under way, outermost first.
    chain: Vec<PathBuf>,
    /// The files that were included.
    seen: Vec<PathBuf>,
}

impl IncludeExpansion<'_> {
    fn element(&mut self, mut element: Element, depth: usize) -> Result<Element, SceneError> {
        if depth > DEEPEST {
            let what = format!("elements {depth} deep; expected at most {DEEPEST}");
            return Err(element.error(what));
        }
        let children = std::mem::take(&mut element.children);
        element.children.reserve(children.len());
        for child in children {
            self.child(child, depth, &mut element.children)?;
        }
        Ok(element)
    }

    fn child(
        &mut self,
        child: Element,
        depth: usize,
        into: &mut Vec<Element>,
    ) -> Result<(), SceneError> {
        if child.tag != "include" {
            into.push(self.element(child, depth + 1)?);
            return Ok(());
        }
        if !child.children.is_empty() {
            return Err(child.error("found children; expected none in an include"));
        }
        let path = self.find(&child)?;
        if self.chain.contains(&path) || self.seen.contains(&path) {
            let chain: Vec<_> =
                self.chain.iter().chain([&path]).map(|file| file.display().to_string()).collect();
            let how = if self.chain.contains(&path) { "a cycle" } else { "a second inclusion" };
            return Err(child.error(format_args!(
                "{how}: {}; expected each file to be included once",
                chain.join(" → ")
            )));
        }
        let root = Element::read(self.files, &path)?;
        if root.children.is_empty() {
            return Err(child.error(format_args!(
                "nothing stands in {}; expected elements to include",
                path.display()
            )));
        }
        self.seen.push(path.clone());
        self.chain.push(path);
        for inner in root.children {
            self.child(inner, depth, into)?;
        }
        self.chain.pop();
        Ok(())
    }

    /// The file that an include names.
    fn find(&self, include: &Element) -> Result<PathBuf, SceneError> {
        let name = include.require("file")?;
        let beside_main = without_dots(&self.folder.join(name));
        if self.files.contains(&beside_main) {
            return Ok(beside_main);
        }
        let includer = include.place.file.parent().unwrap_or(Path::new(""));
        let beside_includer = without_dots(&includer.join(name));
        if self.files.contains(&beside_includer) {
            return Ok(beside_includer);
        }
        Err(include.wrong("file", &format!("a file, {}", beside_main.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[(&str, &str)]) -> Result<Document, SceneError> {
        let mut files = Files::in_memory();
        for (path, text) in texts {
            files.insert(path, text.as_bytes());
        }
        Document::read(&mut files, Path::new(texts[0].0))
    }

    fn tags(element: &Element) -> Vec<&str> {
        element.children.iter().map(|child| child.tag.as_str()).collect()
    }

    #[test]
    fn an_include_becomes_the_children_of_the_included_root_where_it_stands() {
        let found = read(&[
            ("m/main.xml", "<mujoco><a/><include file='parts/b.xml'/><d/></mujoco>"),
            ("m/parts/b.xml", "<any><b/><include file='c.xml'/></any>"),
            ("m/parts/c.xml", "<any><c/></any>"),
        ]);
        assert_eq!(tags(&found.unwrap().root), ["a", "b", "c", "d"]);
    }

    #[test]
    fn beside_the_main_file_comes_before_beside_the_including_one() {
        let found = read(&[
            ("main.xml", "<mujoco><include file='parts/b.xml'/></mujoco>"),
            ("parts/b.xml", "<any><include file='c.xml'/></any>"),
            ("parts/c.xml", "<any><beside_includer/></any>"),
            ("c.xml", "<any><beside_main/></any>"),
        ]);
        assert_eq!(tags(&found.unwrap().root), ["beside_main"]);
    }

    #[test]
    fn cycles_are_told_with_their_chain_and_repetitions_are_refused() {
        let cycle = read(&[
            ("main.xml", "<mujoco><include file='b.xml'/></mujoco>"),
            ("b.xml", "<any>\n<include file='main.xml'/></any>"),
        ]);
        let message = cycle.unwrap_err().to_string();
        assert!(message.starts_with("b.xml:2: "), "{message}");
        assert!(message.contains("main.xml → b.xml → main.xml"), "{message}");
        let twice = read(&[
            ("main.xml", "<mujoco><include file='b.xml'/><include file='b.xml'/></mujoco>"),
            ("b.xml", "<any><b/></any>"),
        ]);
        assert!(twice.unwrap_err().to_string().contains("included once"));
    }

    #[test]
    fn a_missing_include_another_root_and_bottomless_nesting_are_refused() {
        for text in [
            "<mujoco><include file='none.xml'/></mujoco>",
            "<robot/>",
            "<mujoco><include/></mujoco>",
        ] {
            assert!(read(&[("main.xml", text)]).is_err(), "{text}");
        }
        let deep = |n: usize, inner: &str| "<a>".repeat(n) + inner + &"</a>".repeat(n);
        let outer = format!("<mujoco>{}</mujoco>", deep(150, "<include file='b.xml'/>"));
        let message = read(&[("main.xml", &outer), ("b.xml", &deep(150, ""))]).unwrap_err();
        assert!(message.to_string().contains("deep"), "{message}");
    }
}
