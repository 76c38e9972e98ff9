//! Resolves `package://`, `model://` and `file://` names to paths.
//!
//! Folders are searched for a package in this order: those that the caller names, those of
//! `ROS_PACKAGE_PATH`, `share` of those of `AMENT_PREFIX_PATH`, then the ancestors of the robot's
//! file from the nearest on: one that has the package's name, or one that holds a folder of that
//! name. Repositories are often cloned under another name, so at last the package is taken to be
//! any ancestor that holds the file.

use std::path::{Path, PathBuf};

use crate::files::{Files, without_dots};
use crate::import::Options;

/// Folders above a file that are searched, at most.
const HIGHEST: usize = 32;

/// Folders in which packages are searched.
pub(super) struct Packages {
    /// Folder of the robot's file.
    folder: PathBuf,
    /// Folders that hold packages, or are one.
    named: Vec<PathBuf>,
    /// Ancestors of the file with their names, from the nearest on.
    ancestors: Vec<(PathBuf, Option<String>)>,
}

impl Packages {
    pub fn of(path: &Path, options: &Options) -> Self {
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let listed = |variable: &str| {
            std::env::var_os(variable)
                .map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>())
                .unwrap_or_default()
        };
        let mut named = options.package_paths.clone();
        named.extend(listed("ROS_PACKAGE_PATH"));
        named.extend(listed("AMENT_PREFIX_PATH").into_iter().map(|prefix| prefix.join("share")));
        Self { ancestors: ancestors(&folder), folder, named }
    }

    /// The file of a name, or the folders that were searched.
    pub fn find(&self, files: &Files, name: &str) -> Result<PathBuf, Vec<PathBuf>> {
        let candidates = match name.split_once("://") {
            Some(("package" | "model", rest)) => self.in_packages(rest),
            Some(("file", rest)) => vec![self.folder.join(rest)],
            Some(_) => Vec::new(),
            None => vec![self.folder.join(name)],
        };
        match candidates.iter().find(|path| files.contains(path)) {
            Some(found) => Ok(without_dots(found)),
            None => Err(candidates),
        }
    }

    fn in_packages(&self, name: &str) -> Vec<PathBuf> {
        let (package, rest) = name.split_once('/').unwrap_or((name, ""));
        let mut places = Vec::new();
        for folder in &self.named {
            places.push(folder.join(package).join(rest));
            if folder.file_name().is_some_and(|name| name == package) {
                places.push(folder.join(rest));
            }
        }
        for (folder, name) in &self.ancestors {
            if name.as_deref() == Some(package) {
                places.push(folder.join(rest));
            }
            places.push(folder.join(package).join(rest));
        }
        places.extend(self.ancestors.iter().map(|(folder, _)| folder.join(rest)));
        places
    }
}

/// A folder and those above it. Above a relative path they are spelled with `..`, so that files that
/// travel in memory are found again wherever they are unpacked.
fn ancestors(folder: &Path) -> Vec<(PathBuf, Option<String>)> {
    let folder = without_dots(folder);
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let spelled: Vec<PathBuf> = if folder.is_absolute() {
        folder.ancestors().map(Path::to_path_buf).take(HIGHEST).collect()
    } else {
        let up = |n: usize| without_dots(&(0..n).fold(folder.clone(), |path, _| path.join("..")));
        (0..HIGHEST).map(up).collect()
    };
    let whole = std::path::absolute(&folder).map(|path| without_dots(&path)).unwrap_or(folder);
    let mut names = whole.ancestors().map(name);
    spelled.into_iter().map(|path| (path, names.next().flatten())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, held: &str, name: &str, options: &Options) -> bool {
        let mut files = Files::in_memory();
        files.insert(held, *b"mesh");
        let found = Packages::of(Path::new(path), options).find(&files, name);
        found.is_ok_and(|found| found == without_dots(Path::new(held)))
    }

    #[test]
    fn packages_are_found_beside_and_above_the_robot() {
        let plain = Options::default();
        let (robot, name) =
            ("/ws/arm_description/urdf/arm.urdf", "package://arm_description/m/a.stl");
        assert!(found(robot, "/ws/arm_description/m/a.stl", name, &plain));
        assert!(found(robot, "/ws/arm_description/urdf/m/a.stl", name, &plain));
        assert!(found("/ws/clone/urdf/arm.urdf", "/ws/clone/m/a.stl", name, &plain));
        assert!(found(robot, "/ws/hand/a.stl", "model://hand/a.stl", &plain));
        assert!(found(robot, "/ws/arm_description/urdf/a.stl", "a.stl", &plain));
        assert!(found(robot, "/ws/arm_description/m/a.stl", "../m/a.stl", &plain));
        assert!(found(robot, "/other/a.stl", "file:///other/a.stl", &plain));
        assert!(!found(robot, "/ws/arm_description/m/b.stl", name, &plain));
        assert!(!found(robot, "/ws/a.stl", "https://host/a.stl", &plain));
    }

    #[test]
    fn folders_that_the_caller_names_come_first() {
        let of =
            |folder: &str| Options { package_paths: vec![folder.into()], ..Options::default() };
        let name = "package://arm/m/a.stl";
        for folder in ["/opt/share", "/opt/share/arm"] {
            let mut files = Files::in_memory();
            files.insert("/opt/share/arm/m/a.stl", *b"mesh");
            files.insert("/ws/arm/m/a.stl", *b"mesh");
            let packages = Packages::of(Path::new("/ws/arm/arm.urdf"), &of(folder));
            let expected = Path::new("/opt/share/arm/m/a.stl");
            assert_eq!(packages.find(&files, name).unwrap(), expected);
        }
    }

    #[test]
    fn a_relative_robot_finds_what_lies_above_the_present_folder() {
        let plain = Options::default();
        assert!(found("urdf/arm.urdf", "../m/a.stl", "package://arm/../m/a.stl", &plain));
        assert!(found("arm.urdf", "../m/a.stl", "package://anything/m/a.stl", &plain));
    }
}
