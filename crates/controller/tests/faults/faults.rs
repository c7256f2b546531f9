//! What goes wrong: which calls, how, and how often it did.

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
    Delete,
    UpdateStatus,
}

impl Verb {
    pub fn writes(self) -> bool {
        !matches!(self, Verb::List | Verb::Watch | Verb::Get)
    }
}

/// A call that came in.
#[derive(Debug, Clone)]
pub struct Call {
    pub verb: Verb,
    pub kind: Kind,
}

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// 409: somebody else changed the object a moment ago.
    Conflict,
    /// 403, as with a quota.
    Forbidden,
    /// 429 with Retry-After, in seconds.
    TooManyRequests(u32),
    /// 503 of the API server.
    Unavailable,
    /// 503 of a proxy, after it was done.
    UnavailableAfterwards,
    /// 500, and nothing was done.
    Error,
    /// 500, though it was done.
    ErrorAfterwards,
    /// Nobody listens.
    NotConnected,
    /// The connection breaks before anything was done.
    Broken,
    /// The connection breaks after it was done.
    BrokenAfterwards,
    /// The connection breaks, and the API server does it most of a minute later.
    BrokenLongBefore,
    /// No answer ever, though it was done.
    SilentAfterwards,
    /// No answer ever.
    Silent,
    /// 410, as a watch tells it: list again.
    Gone,
}

impl Fault {
    /// Whether the call is done nevertheless.
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

/// The first rule that a call meets.
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
    /// How often each really happened.
    pub happened: BTreeMap<Fault, u32>,
}

impl Faults {
    pub fn add(&mut self, verb: Verb, kind: Kind, fault: Fault, times: u32) {
        self.rules.push(Rule { verb, kind, fault, left: times });
    }

    /// Whether rules are left that no call has met as often as they say.
    pub fn are_left(&self) -> bool {
        self.rules.iter().any(|rule| rule.left > 0)
    }

    /// One of these with every fifth write, and now and then with a read.
    pub fn at_random(&mut self, rng: fastrand::Rng, faults: &[Fault]) {
        self.random = Some((rng, faults.to_vec()));
    }

    pub fn end(&mut self) {
        self.rules.clear();
        self.random = None;
    }

    pub fn strike(&mut self, verb: Verb, kind: Kind) -> Option<Fault> {
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
        // Watches are begun seldom, and nothing else can be too old.
        let is_gone = verb == Verb::Watch && faults.contains(&Fault::Gone) && rng.bool();
        let fault = if is_gone { Fault::Gone } else { rng.choice(faults.iter()).copied()? };
        // A watcher waits for its list as long as the connection lives.
        let fits = match fault {
            Fault::Silent | Fault::SilentAfterwards => !matches!(verb, Verb::List | Verb::Watch),
            Fault::Gone => verb == Verb::Watch,
            _ => true,
        };
        fits.then_some(fault)
    }
}

/// A `Status` object, with the API server's reason.
pub fn status(code: u16, reason: &str, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code})
}

/// Long enough to be for ever.
pub const FOR_EVER: Duration = Duration::from_secs(1_000_000);
