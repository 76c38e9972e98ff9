//! Limits of an XML text that are checked before it is parsed: the parser compares every attribute
//! of an element with all others, and takes stack for every level.

/// Most attributes of one element.
pub(super) const MOST_ATTRIBUTES: usize = 1000;
/// Largest depth of nested elements: deeper ones would exhaust the stack of recursive readers.
pub(super) const DEEPEST: usize = 200;

/// The first limit that a text exceeds: the byte offset, and a message. One pass over the bytes.
///
/// Text that is no XML may be counted wrongly; the parser rejects it.
pub(super) fn exceeded(text: &str) -> Option<(usize, String)> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(open) = find(bytes, at, b"<") {
        let rest = &bytes[open..];
        let end_after = |close: &[u8], from: usize| {
            find(bytes, open + from, close).map_or(bytes.len(), |end| end + close.len())
        };
        if rest.starts_with(b"<!--") {
            at = end_after(b"-->", 4);
        } else if rest.starts_with(b"<![CDATA[") {
            at = end_after(b"]]>", 9);
        } else if rest.starts_with(b"<?") {
            at = end_after(b"?>", 2);
        } else if rest.starts_with(b"</") {
            at = end_after(b">", 2);
            depth = depth.saturating_sub(1);
        } else {
            let (end, attributes, closed) = tag(bytes, open + 1);
            if attributes > MOST_ATTRIBUTES {
                let what = format!(
                    "an element with {attributes} attributes; expected at most {MOST_ATTRIBUTES}"
                );
                return Some((open, what));
            }
            if !closed && !rest.starts_with(b"<!") {
                depth += 1;
            }
            // The root has depth zero.
            if depth > DEEPEST + 1 {
                let what = format!("elements {} deep; expected at most {DEEPEST}", depth - 1);
                return Some((open, what));
            }
            at = end;
        }
    }
    None
}

/// End of a tag that begins before `at`, the number of its attributes, and whether it closes itself.
fn tag(bytes: &[u8], mut at: usize) -> (usize, usize, bool) {
    let mut attributes = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'>' => return (at + 1, attributes, bytes[at - 1] == b'/'),
            b'=' => attributes += 1,
            b'"' | b'\'' => at = find(bytes, at + 1, &[byte]).unwrap_or(bytes.len()),
            _ => {}
        }
        at += 1;
    }
    (bytes.len(), attributes, true)
}

fn find(bytes: &[u8], from: usize, word: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let found = match word {
        [one] => rest.iter().position(|byte| byte == one),
        _ => rest.windows(word.len()).position(|window| window == word),
    };
    found.map(|place| from + place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_quotes_and_instructions_count_for_nothing() {
        let quoted = "=".repeat(2 * MOST_ATTRIBUTES);
        let text = format!(
            "<?xml version='1.0'?><!-- {0} <a {quoted} --><a b='{quoted}' c=\"><{quoted}\">\
             <![CDATA[<a><a><a>]]><d/></a>",
            "<a>".repeat(2 * DEEPEST)
        );
        assert_eq!(exceeded(&text), None);
    }

    #[test]
    fn siblings_add_no_depth() {
        let text = format!("<a>{}</a>", "<b><c/></b>".repeat(10 * DEEPEST));
        assert_eq!(exceeded(&text), None);
    }
}
