//! Two faults of XML that other programs accept and that many files have: `--` within a comment, and no space
//! between two attributes. They are mended before parsing; lines keep their numbers.

use std::borrow::Cow;

/// The text without these faults.
pub(super) fn mended(text: &str) -> Cow<'_, str> {
    let mut edits: Vec<(usize, Edit)> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(start) = text[at..].find('<').map(|found| at + found) {
        let rest = &text[start..];
        at = start
            + if rest.starts_with("<!--") {
                comment(rest, start, &mut edits)
            } else if rest.starts_with("<![CDATA[") {
                rest.find("]]>").map_or(rest.len(), |end| end + 3)
            } else {
                tag(&bytes[start..], start, &mut edits)
            };
    }
    if edits.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut mended = String::with_capacity(text.len() + edits.len());
    let mut from = 0;
    for (place, edit) in edits {
        mended.push_str(&text[from..place]);
        match edit {
            Edit::Space => mended.push(' '),
            Edit::Dash => mended.push('.'),
        }
        from = if edit == Edit::Dash { place + 1 } else { place };
    }
    mended.push_str(&text[from..]);
    Cow::Owned(mended)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    /// A space before this place.
    Space,
    /// Another character in place of a dash.
    Dash,
}

/// Length of a comment; the dashes within it are to be replaced if two are adjacent or one is the last.
fn comment(rest: &str, start: usize, edits: &mut Vec<(usize, Edit)>) -> usize {
    const OPEN: usize = "<!--".len();
    let Some(end) = rest[OPEN..].find("-->") else { return rest.len() };
    let inner = &rest[OPEN..OPEN + end];
    if inner.contains("--") || inner.ends_with('-') {
        let dashes = inner.match_indices('-').map(|(at, _)| (start + OPEN + at, Edit::Dash));
        edits.extend(dashes);
    }
    OPEN + end + "-->".len()
}

/// Length of a tag; a space is missing after a value that is followed by a name.
fn tag(rest: &[u8], start: usize, edits: &mut Vec<(usize, Edit)>) -> usize {
    let mut quote = None;
    for (at, &byte) in rest.iter().enumerate().skip(1) {
        match quote {
            Some(open) if byte == open => {
                quote = None;
                let next = rest.get(at + 1).copied().unwrap_or(b'>');
                if !(next.is_ascii_whitespace() || b"/>?".contains(&next)) {
                    edits.push((start + at + 1, Edit::Space));
                }
            }
            Some(_) => {}
            None if byte == b'"' || byte == b'\'' => quote = Some(byte),
            None if byte == b'>' => return at + 1,
            None => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_in_comments_and_missing_spaces_are_mended_and_nothing_else_changes() {
        let fine = "<a x='1' y=\"--\">\n<!-- a - b -->--<b/><![CDATA[<c x=''y=''>--]]></a>";
        assert!(matches!(mended(fine), Cow::Borrowed(_)));
        assert_eq!(mended("<a x='1'y=\"2\"/>"), "<a x='1' y=\"2\"/>");
        assert_eq!(mended("<!-- a -- b --->\n<a/>"), "<!-- a .. b .-->\n<a/>");
        assert_eq!(mended("<a x='1'"), "<a x='1'");
        assert_eq!(mended("<!-- a"), "<!-- a");
    }
}
