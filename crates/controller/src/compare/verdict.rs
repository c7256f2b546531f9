//! What comes of the comparison of one action, and how many there were of each.

use std::collections::BTreeMap;

/// What comes of one action or counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Both do it.
    Agreed,
    /// Theirs, on another node than ours; as many nodes as ours at a time.
    OtherNodeFirst,
    /// Both do it, but theirs came so late that it was reported as ours alone.
    Late,
    /// A difference that is documented, and on purpose.
    Deliberate,
    /// Done by another one than the DaemonSet controller: the garbage collector, say.
    NotTheirs,
    /// They did it, we would not.
    TheyOnly,
    /// We would do it, they did not.
    WeOnly,
    /// A counter of the status differs.
    Status,
}

/// Every verdict, as summaries list them.
pub const ALL: [Verdict; 8] = [
    Verdict::Agreed,
    Verdict::OtherNodeFirst,
    Verdict::Late,
    Verdict::NotTheirs,
    Verdict::Deliberate,
    Verdict::TheyOnly,
    Verdict::WeOnly,
    Verdict::Status,
];

impl Verdict {
    /// As it is printed, and counted for Prometheus.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Agreed => "agreed",
            Verdict::OtherNodeFirst => "other-node-first",
            Verdict::Late => "late",
            Verdict::Deliberate => "deliberate",
            Verdict::NotTheirs => "not-theirs",
            Verdict::TheyOnly => "they-only",
            Verdict::WeOnly => "we-only",
            Verdict::Status => "status",
        }
    }

    /// Whether somebody should look at it.
    pub fn is_difference(self) -> bool {
        match self {
            Verdict::TheyOnly | Verdict::WeOnly | Verdict::Status => true,
            Verdict::Agreed
            | Verdict::OtherNodeFirst
            | Verdict::Late
            | Verdict::Deliberate
            | Verdict::NotTheirs => false,
        }
    }

    /// The first word of its line; agreement has no line.
    pub fn heading(self) -> Option<&'static str> {
        match self {
            Verdict::Agreed | Verdict::OtherNodeFirst | Verdict::NotTheirs => None,
            Verdict::Late => Some("NOTE"),
            Verdict::Deliberate => Some("DELIBERATE"),
            Verdict::TheyOnly | Verdict::WeOnly | Verdict::Status => Some("DIFFERENCE"),
        }
    }
}

/// What was found about one DaemonSet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What comes of it.
    pub verdict: Verdict,
    /// The DaemonSet, as namespace/name.
    pub daemon_set: String,
    /// What is compared.
    pub what: String,
    /// Why, in words.
    pub why: String,
}

impl Finding {
    /// Its line, without the time.
    pub fn told(&self) -> String {
        let heading = self.verdict.heading().unwrap_or("SAME");
        let name = self.verdict.name();
        format!("{heading} {name} {} {} | {}", self.daemon_set, self.what, self.why)
    }
}

/// How many findings there were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    seen: u64,
    statuses: u64,
    found: BTreeMap<Verdict, u64>,
}

impl Tally {
    /// An action of the other controller.
    pub fn saw(&mut self) {
        self.seen += 1;
    }

    /// A status that the other controller wrote.
    pub fn saw_status(&mut self) {
        self.statuses += 1;
    }

    /// A finding.
    pub fn found(&mut self, verdict: Verdict) {
        *self.found.entry(verdict).or_default() += 1;
    }

    /// How many of this verdict.
    pub fn of(&self, verdict: Verdict) -> u64 {
        self.found.get(&verdict).copied().unwrap_or_default()
    }

    /// How many that somebody should look at.
    pub fn differences(&self) -> u64 {
        ALL.into_iter().filter(|verdict| verdict.is_difference()).map(|verdict| self.of(verdict)).sum()
    }

    /// In one line.
    pub fn told(&self, daemon_sets: usize, waiting: usize) -> String {
        let counts = ALL.map(|verdict| format!("{}={}", verdict.name(), self.of(verdict))).join(" ");
        format!(
            "SUMMARY daemonsets={daemon_sets} actions-seen={} statuses-seen={} {counts} waiting={waiting} differences={}",
            self.seen,
            self.statuses,
            self.differences()
        )
    }
}
