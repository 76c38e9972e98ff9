//! Standard output and standard error: colours on a terminal, no error when a pipe is closed.

use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

use crate::error::CommandError;

/// Style of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStyle {
    Plain,
    Heading,
    Faint,
    Good,
    Bad,
}

impl TextStyle {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Heading => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Bad => "31",
        }
    }
}

/// Whether to write colours to standard output.
pub fn colours() -> bool {
    stdout().is_terminal() && colours_allowed()
}

/// <https://no-color.org>: any value but the empty one disables colours.
fn colours_allowed() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The text with the escape codes of a style, or unchanged without colours.
pub fn paint(text: &str, tone: TextStyle, colours: bool) -> String {
    if !colours || tone == TextStyle::Plain {
        return text.to_owned();
    }
    format!("\x1b[{}m{text}\x1b[0m", tone.code())
}

/// Writes to standard output. A closed pipe is no error.
pub fn print(text: &str) -> Result<(), CommandError> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CommandError::Output(error)),
        _ => Ok(()),
    }
}

/// Writes an error to standard error; a failure to write it is ignored.
pub fn print_error(error: &CommandError) {
    let colours = stderr().is_terminal() && colours_allowed();
    let _ = writeln!(stderr().lock(), "{} {error}", paint("error:", TextStyle::Bad, colours));
}

/// Writes a warning to standard error.
pub fn warn(text: &str) {
    let colours = stderr().is_terminal() && colours_allowed();
    let _ = writeln!(stderr().lock(), "{} {text}", paint("warning:", TextStyle::Bad, colours));
}
