//! What to plan: a List or a Recording, from a file, stdin or built in.

mod list;
mod places;

use crate::input::list::List;
use crate::input::places::Places;
use daemonset::{Policy, Recording, Snapshot};
use jiff::Timestamp;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// A cluster in the middle of an update, as `kubectl get … -o json` printed it.
pub(crate) const BUILT_IN: &str = include_str!("midrollout.json");

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
