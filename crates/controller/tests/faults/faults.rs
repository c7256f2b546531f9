//! Faults: which calls fail, how, and how often they did.

use crate::store::Kind;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    List,
    Watch,
    Get,
    Create,
    Patch,
    Update,
    Delete,
    UpdateStatus,
    Evict,
}

impl Verb {
    pub fn writes(self) -> bool {
        !matches!(self, Verb::List | Verb::Watch | Verb::Get)
    }
}

/// A call that came in.
#[derive(Debug, Clone)]
pub struct Call {
    /// The name of the client.
    pub client: &'static str,
    pub verb: Verb,
    pub kind: Kind,
    /// The field selector of a list or a watch.
    pub fields: Option<String>,
}

/// The fault of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// 409: another client changed the object a moment ago.
    Conflict,
    /// 409: another object has the name.
    AlreadyExists,
    /// 403, as with a quota.
    Forbidden,
    /// 422 about the spec, as for an object that the API server finds invalid.
    Invalid,
    /// 429 with Retry-After, in seconds.
    TooManyRequests(u32),
    /// 503 of the API server.
    Unavailable,
    /// 503 of a proxy, after the call was done.
    UnavailableAfterwards,
    /// 500, and the call was not done.
    Error,
    /// 500, although the call was done.
    ErrorAfterwards,
    /// No server listens.
    NotConnected,
    /// The connection breaks before the call was done.
    Broken,
    /// The connection breaks after the call was done.
    BrokenAfterwards,
    /// The connection breaks, and the API server does the call 55 s later.
    BrokenLongBefore,
    /// No response ever, although the call was done.
    SilentAfterwards,
    /// No response ever.
    Silent,
    /// 410 in a watch: list again.
    Gone,
}

impl Fault {
    /// Whether the call is done before the fault.
    pub fn comes_afterwards(self) -> bool {
        matches!(
            self,
            Fault::UnavailableAfterwards
                | Fault::ErrorAfterwards
                | Fault::BrokenAfterwards
                | Fault::SilentAfterwards
        )
    }
}

/// A fault for the next `left` calls of this verb and kind.
struct Rule {
    verb: Verb,
    kind: Kind,
    fault: Fault,
    left: u32,
}

#[derive(Default)]
pub struct Faults {
    rules: Vec<Rule>,
    random: Option<(fastrand::Rng, Vec<Fault>)>,
    /// How often each fault was injected.
    pub happened: BTreeMap<Fault, u32>,
}

impl Faults {
    pub fn add(&mut self, verb: Verb, kind: Kind, fault: Fault, times: u32) {
        self.rules.push(Rule { verb, kind, fault, left: times });
    }

    /// Whether a rule still waits for calls.
    pub fn are_left(&self) -> bool {
        self.rules.iter().any(|rule| rule.left > 0)
    }

    /// Injects one of these faults into every fifth write and every tenth read, on average.
    pub fn at_random(&mut self, rng: fastrand::Rng, faults: &[Fault]) {
        self.random = Some((rng, faults.to_vec()));
    }

    pub fn end(&mut self) {
        self.rules.clear();
        self.random = None;
    }

    /// The fault of the next call, if it has one.
    pub fn take(&mut self, verb: Verb, kind: Kind) -> Option<Fault> {
        let fault = self.by_rule(verb, kind).or_else(|| self.by_chance(verb))?;
        *self.happened.entry(fault).or_default() += 1;
        Some(fault)
    }

    fn by_rule(&mut self, verb: Verb, kind: Kind) -> Option<Fault> {
        let rule =
            self.rules.iter_mut().find(|rule| rule.left > 0 && rule.verb == verb && rule.kind == kind)?;
        rule.left -= 1;
        Some(rule.fault)
    }

    fn by_chance(&mut self, verb: Verb) -> Option<Fault> {
        let (rng, faults) = self.random.as_mut()?;
        let one_in = if verb.writes() { 5 } else { 10 };
        if rng.u32(..one_in) > 0 {
            return None;
        }
        // Watches start rarely, and only they can get 410.
        let is_gone = verb == Verb::Watch && faults.contains(&Fault::Gone) && rng.bool();
        let fault = if is_gone { Fault::Gone } else { rng.choice(faults.iter()).copied()? };
        // A watcher has no time-out for a list or a watch that gets no response.
        let fits = match fault {
            Fault::Silent | Fault::SilentAfterwards => !matches!(verb, Verb::List | Verb::Watch),
            Fault::Gone => verb == Verb::Watch,
            _ => true,
        };
        fits.then_some(fault)
    }
}

/// A `Status` object of a failure.
pub fn status(code: u16, reason: &str, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code})
}

/// The `Status` object of a 422 with its causes, each a field and a message, as the API server words it.
pub fn invalid(about: &str, causes: &[(&str, String)]) -> Value {
    let words: Vec<String> = causes.iter().map(|(field, message)| format!("{field}: {message}")).collect();
    let words = match words.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    let mut status = status(422, "Invalid", &format!("{about} is invalid: {words}"));
    let causes = causes
        .iter()
        .map(|(field, message)| json!({"reason": "FieldValueInvalid", "message": message, "field": field}));
    status["details"] = json!({"causes": causes.collect::<Vec<_>>()});
    status
}

/// Longer than every story.
pub const FOREVER: Duration = Duration::from_secs(1_000_000);
