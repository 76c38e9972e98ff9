//! The page: a recording and its viewer in one self-contained HTML file.
//!
//! The viewer's files are plain ES modules in `page/`, compiled into this crate. They are joined into
//! one script, see [`script`]; the recording is [`data`], deflated and written as text.
//! The page's content security policy forbids every request, also one that a name in a recording might
//! try to inject.

pub mod data;
mod patches;
pub mod script;

use std::path::Path;

use stiction_plot::escape;
use stiction_sim::record::Recording;

use crate::{ViewError, exporter, pack};

const PAGE: &str = include_str!("../../page/page.html");
const STYLE: &str = include_str!("../../page/page.css");

/// Writes the page of a recording to a file.
pub fn write(recording: &Recording, path: &Path) -> Result<(), ViewError> {
    let page = page(recording).map_err(|error| match error {
        PageError::Recording(source) => ViewError::Recording(source),
        PageError::Deflate(source) => ViewError::Write { path: path.display().to_string(), source },
    })?;
    exporter::put(path, page.as_bytes())
}

/// Why a page cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// The recording is inconsistent.
    #[error(transparent)]
    Recording(#[from] stiction_sim::record::RecordError),
    /// The recording could not be deflated.
    #[error("the recording could not be deflated: {0}")]
    Deflate(#[from] std::io::Error),
}

/// The page of a recording.
pub fn page(recording: &Recording) -> Result<String, PageError> {
    recording.check()?;
    let text = pack::base64(&data::encode(recording)?);
    let title = if recording.title.is_empty() { "recording" } else { &recording.title };
    Ok(fill(
        PAGE,
        &[
            ("{{title}}", escape(title)),
            ("{{style}}", STYLE.to_owned()),
            ("{{script}}", script::joined()),
            ("{{length}}", text.len().to_string()),
            ("{{data}}", text),
        ],
    ))
}

/// Fills the slots of a template, given in its order; inserted text is not searched for slots.
pub(crate) fn fill(template: &str, slots: &[(&str, String)]) -> String {
    let size = slots.iter().map(|(_, content)| content.len()).sum::<usize>();
    let mut page = String::with_capacity(template.len() + size);
    let mut rest = template;
    for (slot, content) in slots {
        let (before, after) = rest.split_once(slot).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(content);
        rest = after;
    }
    page.push_str(rest);
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_stands_once_in_the_template_in_the_order_of_filling() {
        let slots = ["{{title}}", "{{style}}", "{{script}}", "{{length}}", "{{data}}"];
        let places: Vec<_> = slots.map(|slot| PAGE.find(slot).unwrap()).into();
        assert!(places.is_sorted());
        assert!(slots.iter().all(|slot| PAGE.matches(slot).count() == 1));
    }

    #[test]
    fn a_name_cannot_leave_its_place() {
        let evil = "</title></script><script>alert(1)</script>";
        let recording = Recording {
            title: evil.into(),
            bodies: vec!["world".into(), evil.into()],
            rest: vec![nalgebra::Isometry3::identity(); 2],
            ..Recording::default()
        };
        let page = page(&recording).unwrap();
        assert!(!page.contains("<script>alert"));
        // The script of the page and the data: two elements open, two close.
        assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2));
    }

    #[test]
    fn the_page_names_nothing_outside_itself() {
        let page = page(&Recording::default()).unwrap();
        let namespace = "http://www.w3.org/2000/svg";
        for mark in ["http:", "https:", "//cdn", "@import", "src=\"", "url("] {
            let allowed = page.matches(namespace).count() * usize::from(mark == "http:");
            assert_eq!(page.matches(mark).count(), allowed, "{mark}");
        }
        assert!(page.contains("default-src 'none'"));
    }
}
