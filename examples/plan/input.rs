//! What to plan: a List or a Recording, from a file, stdin or built in.

use crate::list::List;
use crate::places::Places;
use daemonset::{Policy, Recording, Snapshot};
use jiff::Timestamp;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// A cluster in the middle of an update, as `kubectl get … -o json` printed it.
const BUILT_IN: &str = include_str!("midrollout.json");

/// Where the bytes come from.
pub(crate) enum Source {
    BuiltIn,
    Stdin,
    File(PathBuf),
}

impl Source {
    /// `-` is stdin.
    pub(crate) fn named(file: PathBuf) -> Self {
        if file.as_os_str() == "-" { Source::Stdin } else { Source::File(file) }
    }

    pub(crate) fn bytes(&self) -> Result<Cow<'static, [u8]>, String> {
        if let Source::BuiltIn = self {
            return Ok(Cow::Borrowed(BUILT_IN.as_bytes()));
        }
        let mut bytes = Vec::new();
        self.open().and_then(|mut file| file.read_to_end(&mut bytes)).map_err(|error| error.to_string())?;
        Ok(Cow::Owned(bytes))
    }

    pub(crate) fn open(&self) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Source::BuiltIn => Box::new(BUILT_IN.as_bytes()),
            Source::Stdin => Box::new(io::stdin().lock()),
            Source::File(path) => Box::new(File::open(path)?),
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::BuiltIn => f.write_str("the built-in example"),
            Source::Stdin => f.write_str("stdin"),
            Source::File(path) => path.display().fmt(f),
        }
    }
}

/// How the objects are told.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    /// As kubectl prints them: has `items`.
    List,
    /// Has a `daemonSet`.
    Recording,
}

impl Form {
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        let members: BTreeMap<String, IgnoredAny> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        if members.contains_key("daemonSet") {
            Ok(Form::Recording)
        } else if members.contains_key("items") {
            Ok(Form::List)
        } else {
            Err("neither a List (items) nor a Recording (daemonSet)".to_owned())
        }
    }
}

/// What the command line says about the input.
pub(crate) struct Choice {
    /// `NAMESPACE/NAME`.
    pub(crate) daemon_set: Option<String>,
    pub(crate) now: Option<Timestamp>,
    pub(crate) policy: Option<Policy>,
}

/// Who says what time it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    CommandLine,
    Recording,
    NewestInList,
}

/// A decision to make.
pub(crate) struct Input {
    pub(crate) recording: Recording,
    pub(crate) clock: Clock,
    /// Where in a List its objects were.
    places: Option<Places>,
}

impl Input {
    pub(crate) fn parse(bytes: &[u8], form: Form, choice: &Choice) -> Result<Self, String> {
        match form {
            Form::List => Input::from_list(bytes, choice),
            Form::Recording => Input::from_recording(bytes, choice),
        }
    }

    fn from_recording(bytes: &[u8], choice: &Choice) -> Result<Self, String> {
        let mut recording = Recording::from_json(bytes).map_err(|error| error.to_string())?;
        let meta = &recording.daemon_set.metadata;
        let is = format!("{}/{}", meta.namespace, meta.name);
        if let Some(wanted) = choice.daemon_set.as_ref().filter(|wanted| **wanted != is) {
            return Err(format!("no DaemonSet {wanted} in this Recording: it is of {is}"));
        }
        if recording.name.is_empty() {
            recording.name = is;
        }
        recording.now = choice.now.unwrap_or(recording.now);
        if let Some(policy) = &choice.policy {
            recording.policy = policy.clone();
        }
        let clock = if choice.now.is_some() { Clock::CommandLine } else { Clock::Recording };
        Ok(Input { recording, clock, places: None })
    }

    fn from_list(bytes: &[u8], choice: &Choice) -> Result<Self, String> {
        let list = List::parse(bytes)?;
        let clock = if choice.now.is_some() { Clock::CommandLine } else { Clock::NewestInList };
        let (recording, places) = list.recording(choice)?;
        Ok(Input { recording, clock, places: Some(places) })
    }

    /// Builds and checks the snapshot.
    pub(crate) fn snapshot(&self) -> Result<Snapshot<'_>, String> {
        self.recording.snapshot().map_err(|error| match &self.places {
            Some(places) => places.tell(&error, &self.recording),
            None => error.to_string(),
        })
    }
}
