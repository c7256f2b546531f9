//! Where a program that a shell called reads from: a file, stdin, or what is built in.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// Where the bytes come from.
pub(crate) enum Source {
    /// Compiled into the program.
    BuiltIn(&'static str),
    Stdin,
    File(PathBuf),
}

impl Source {
    /// `-` is stdin.
    pub(crate) fn named(file: PathBuf) -> Self {
        if file.as_os_str() == "-" { Source::Stdin } else { Source::File(file) }
    }

    pub(crate) fn bytes(&self) -> Result<Cow<'static, [u8]>, String> {
        if let Source::BuiltIn(text) = self {
            return Ok(Cow::Borrowed(text.as_bytes()));
        }
        let mut bytes = Vec::new();
        self.open().and_then(|mut file| file.read_to_end(&mut bytes)).map_err(|error| error.to_string())?;
        Ok(Cow::Owned(bytes))
    }

    pub(crate) fn open(&self) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Source::BuiltIn(text) => Box::new(text.as_bytes()),
            Source::Stdin => Box::new(io::stdin().lock()),
            Source::File(path) => Box::new(File::open(path)?),
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::BuiltIn(_) => f.write_str("the built-in example"),
            Source::Stdin => f.write_str("stdin"),
            Source::File(path) => path.display().fmt(f),
        }
    }
}
