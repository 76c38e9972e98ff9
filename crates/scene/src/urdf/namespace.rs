//! Undeclared namespace prefixes, as in `<sensor:contact>` without `xmlns:sensor`. They are invalid in
//! XML, but common in robot descriptions. They are declared on the root here, on its own line, so that
//! line numbers in messages stay correct.

use std::collections::BTreeSet;

/// The text with its prefixes declared; `None` if there are none to declare.
pub(super) fn declared(text: &str) -> Option<String> {
    let prefixes = prefixes(text);
    let at = root_name_end(text)?;
    if prefixes.is_empty() {
        return None;
    }
    let declarations: String =
        prefixes.iter().map(|prefix| format!(" xmlns:{prefix}=\"{prefix}\"")).collect();
    Some(format!("{}{declarations}{}", &text[..at], &text[at..]))
}

/// Words before a colon where names of elements and attributes begin, unless declared.
fn prefixes(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices(':') {
        let before = &text[..at];
        let start = before
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
            .map_or(0, |k| k + before[k..].chars().next().map_or(1, char::len_utf8));
        let word = &before[start..];
        let opens = before[..start].ends_with(['<', '/', ' ', '\t', '\n', '\r']);
        let named = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if opens && named && !word.to_lowercase().starts_with("xml") {
            found.insert(word);
        }
    }
    let declared: BTreeSet<&str> = text.split("xmlns:").skip(1).map(first_word).collect();
    found.retain(|prefix| !declared.contains(prefix));
    found
}

/// The name at the beginning of a text.
fn first_word(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == '.';
    &text[..text.find(|c| !is_part(c)).unwrap_or(text.len())]
}

/// Where the name of the root element ends.
fn root_name_end(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let open = rest.find('<')?;
        let tag = &rest[open..];
        if tag.starts_with("<!--") {
            at += open + tag.find("-->")? + 3;
        } else if tag.starts_with("<?") || tag.starts_with("<!") {
            at += open + tag.find('>')? + 1;
        } else {
            let end = tag[1..].find(|c: char| c.is_whitespace() || c == '>' || c == '/')?;
            return Some(at + open + 1 + end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undeclared_prefixes_are_declared_on_the_line_of_the_root() {
        let text = "<?xml version='1.0'?>\n<!-- <robot a:b='1'> -->\n<robot name='r' xmlns:k='k'>\n\
                    <sensor:contact k:x='1' y:z='2' file='package://a'/></robot>";
        let found = declared(text).unwrap();
        let root = found.lines().nth(2).unwrap();
        assert!(root.starts_with("<robot ") && root.contains("xmlns:sensor=\"sensor\""), "{root}");
        assert!(root.contains("xmlns:y=") && !root.contains("xmlns:k=\"k\""), "{root}");
        assert!(roxmltree::Document::parse(&found).is_ok());
        assert!(declared("<robot/>").is_none() && declared("").is_none());
    }

    #[test]
    fn characters_outside_ascii_before_a_colon_are_no_prefix() {
        for text in
            ["<robot>é:</robot>", "é:", "<é:a/>", "<a 🤖:b='1'/>", "<a>\u{2009}x:y</a>", "<aé:b/>"]
        {
            assert_eq!(prefixes(text).len(), 0, "{text}");
            let _ = declared(text);
        }
        assert_eq!(prefixes("<a é='1' s:b='é:'/>").into_iter().collect::<Vec<_>>(), ["s"]);
    }

    #[test]
    fn a_hundred_thousand_prefixes_are_declared_in_one_pass() {
        let many: String = (0..100_000).map(|k| format!("<p{k}:a/>")).collect();
        let found = prefixes(&many);
        assert_eq!(found.len(), 100_000);
    }
}
