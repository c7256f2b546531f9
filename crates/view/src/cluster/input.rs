//! One decision to make: a Recording, or a DaemonSet of a List.

use crate::cluster::objects::RecordedDecision;
use crate::cluster::places::Places;
use crate::cluster::policy::AnnotationProblem;
use crate::cluster::{ClusterNotes, Objects, Wanted, documents};
use crate::hostile;
use daemonset::policy::Permissions;
use daemonset::{Policy, Recording, Snapshot};
use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;

const ONLY_ITEMS: &str =
    "is a list of JSON: must be an object with `items`, as kubectl get -o json prints it";
const NEITHER: &str = "neither a List (items) nor a Recording (daemonSet)";

/// In which form the objects are.
#[derive(Clone, Copy)]
pub enum InputForm {
    /// JSON as kubectl prints it: has `items`.
    List,
    /// JSON with a `daemonSet`.
    Recording,
    /// YAML, which may be any of these.
    Yaml,
}

impl InputForm {
    /// Text that begins as JSON does is JSON.
    pub fn of(bytes: &[u8]) -> Result<Self, String> {
        match InputForm::first_byte(bytes)? {
            b'{' => InputForm::of_json(bytes),
            _ => Ok(InputForm::Yaml),
        }
    }

    /// The first byte of a text that may hold objects.
    pub fn first_byte(bytes: &[u8]) -> Result<u8, String> {
        match bytes.trim_ascii_start().first() {
            None => Err("is empty".to_owned()),
            Some(b'[') => Err(ONLY_ITEMS.to_owned()),
            Some(first) => Ok(*first),
        }
    }

    pub fn of_json(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        let members: BTreeMap<String, IgnoredAny> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        if members.contains_key("daemonSet") {
            Ok(InputForm::Recording)
        } else if members.contains_key("items") {
            Ok(InputForm::List)
        } else {
            Err(NEITHER.to_owned())
        }
    }
}

/// The choices of the command line about the input.
pub struct Choice {
    pub daemon_set: Option<Wanted>,
    pub now: Option<Timestamp>,
    pub policy: Option<Policy>,
}

/// The same decision, with names that can be shown.
fn with_stand_ins(recording: Recording) -> Result<Recording, serde_json::Error> {
    let mut value = serde_json::to_value(recording)?;
    for (member, value) in value.as_object_mut().into_iter().flatten() {
        match (member.as_str(), value) {
            ("nodes" | "pods" | "revisions", Value::Array(objects)) => {
                objects.iter_mut().for_each(hostile::put_stand_ins);
            }
            ("ingredients", _) => {}
            (_, value) => hostile::put_stand_ins(value),
        }
    }
    serde_json::from_value(value)
}

/// Where the instant of a plan comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TimeSource {
    CommandLine,
    Recording,
    NewestInList,
    System,
}

/// A decision to make.
pub struct Input {
    pub recording: Recording,
    pub clock: TimeSource,
    /// Why the rollout counts as paused, where its policy can't be read.
    pub policy_problems: Vec<AnnotationProblem>,
    /// The powers of its annotations.
    pub powers: Permissions,
    /// None of a Recording, whose pods are lean.
    pub notes: ClusterNotes,
    /// Where in a List its objects were.
    places: Option<Places>,
}

/// The content of a file.
pub enum Read {
    Recording(Box<Input>),
    Objects(Box<Objects>),
}

impl Read {
    pub fn parse(bytes: &[u8], form: InputForm, choice: &Choice) -> Result<Self, String> {
        let recording =
            |bytes: &[u8]| Input::from_recording(bytes, choice).map(Box::new).map(Read::Recording);
        match form {
            InputForm::List => Objects::from_json_list(bytes).map(Box::new).map(Read::Objects),
            InputForm::Recording => recording(bytes),
            InputForm::Yaml => {
                let documents = documents::read(bytes)?;
                match documents.as_slice() {
                    [only] if only.get("daemonSet").is_some() => recording(only.to_string().as_bytes()),
                    [only] if only.get("items").is_none() => Err(NEITHER.to_owned()),
                    _ => Objects::of_documents(documents).map(Box::new).map(Read::Objects),
                }
            }
        }
    }
}

impl Input {
    pub fn parse(bytes: &[u8], form: InputForm, choice: &Choice) -> Result<Self, String> {
        match Read::parse(bytes, form, choice)? {
            Read::Recording(input) => Ok(*input),
            Read::Objects(objects) => Input::from_list(*objects, choice),
        }
    }

    fn from_recording(bytes: &[u8], choice: &Choice) -> Result<Self, String> {
        let recording = Recording::from_json(bytes).map_err(|error| error.to_string())?;
        let mut recording = with_stand_ins(recording).map_err(|error| error.to_string())?;
        let meta = &recording.daemon_set.metadata;
        let is = format!("{}/{}", meta.namespace, meta.name);
        let another = choice.daemon_set.as_ref().filter(|wanted| !wanted.is(&recording.daemon_set));
        if let Some(wanted) = another {
            return Err(format!("no DaemonSet {wanted} in this Recording: it is of {is}"));
        }
        if recording.name.is_empty() {
            recording.name = is;
        }
        recording.now = choice.now.unwrap_or(recording.now);
        if let Some(policy) = &choice.policy {
            recording.policy = policy.clone();
        }
        let clock = if choice.now.is_some() { TimeSource::CommandLine } else { TimeSource::Recording };
        // As far as the recording shows: its policy has the choices of the annotations in it.
        let powers = Permissions::needed_by(&recording.policy);
        Ok(Input {
            recording,
            clock,
            policy_problems: Vec::new(),
            powers,
            notes: ClusterNotes::default(),
            places: None,
        })
    }

    pub fn from_list(objects: Objects, choice: &Choice) -> Result<Self, String> {
        objects.lacks_no_kind(choice.daemon_set.as_ref())?;
        objects.is_over_by(choice.now)?;
        let clock = match (choice.now, objects.is_recorded()) {
            (Some(_), _) => TimeSource::CommandLine,
            (None, true) => TimeSource::Recording,
            (None, false) => TimeSource::NewestInList,
        };
        let RecordedDecision { recording, places, policy_problems, powers, notes } =
            objects.recording(choice)?;
        Ok(Input { recording, clock, policy_problems, powers, notes, places: Some(places) })
    }

    /// A cluster that is there at this instant of the system's clock.
    pub fn from_cluster(
        objects: Objects,
        choice: &Choice,
        clock: impl FnOnce() -> Timestamp,
    ) -> Result<Self, String> {
        objects.is_over_by(choice.now)?;
        let now = Some(choice.now.unwrap_or_else(clock));
        let clock = if choice.now.is_some() { TimeSource::CommandLine } else { TimeSource::System };
        let choice = Choice { daemon_set: choice.daemon_set.clone(), now, policy: choice.policy.clone() };
        let RecordedDecision { recording, places, policy_problems, powers, notes } =
            objects.recording(&choice)?;
        Ok(Input { recording, clock, policy_problems, powers, notes, places: Some(places) })
    }

    /// Builds and checks the snapshot.
    pub fn snapshot(&self) -> Result<Snapshot<'_>, String> {
        self.recording.snapshot().map_err(|error| match &self.places {
            Some(places) => places.message(&error, &self.recording),
            None => error.to_string(),
        })
    }
}
