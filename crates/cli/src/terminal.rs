//! Standard output and standard error: colours on a terminal, silence in a closed pipe.

use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};

use crate::error::CommandError;

/// How a piece of text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Heading,
    Faint,
    Good,
    Bad,
}

impl Tone {
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

/// Whether standard output shows colours.
pub fn colours() -> bool {
    stdout().is_terminal() && allowed()
}

/// <https://no-color.org>: any value but the empty one asks for none.
fn allowed() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The text in a tone, or as it is without colours.
pub fn paint(text: &str, tone: Tone, colours: bool) -> String {
    if !colours || tone == Tone::Plain {
        return text.to_owned();
    }
    format!("\x1b[{}m{text}\x1b[0m", tone.code())
}

/// Writes to standard output. A reader that has gone away is no error.
pub fn print(text: &str) -> Result<(), CommandError> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(CommandError::Output(error)),
        _ => Ok(()),
    }
}

/// Writes an error to standard error; there is nobody to tell if that fails.
pub fn complain(error: &CommandError) {
    let colours = stderr().is_terminal() && allowed();
    let _ = writeln!(stderr().lock(), "{} {error}", paint("error:", Tone::Bad, colours));
}

/// Writes something to standard error that is no reason to stop.
pub fn warn(text: &str) {
    let colours = stderr().is_terminal() && allowed();
    let _ = writeln!(stderr().lock(), "{} {text}", paint("warning:", Tone::Bad, colours));
}
