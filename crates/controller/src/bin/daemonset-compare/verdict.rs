//! The result of a comparison: verdicts, findings and their counts.

use std::collections::BTreeMap;

/// The verdict on one action, or on one counter of the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Both do it.
    Agreed,
    /// They do it on another node than we would, on as many nodes at a time.
    OtherNodeFirst,
    /// Both do it, but they so late that it was reported as ours alone before.
    Late,
    /// A documented difference.
    Deliberate,
    /// Another component did it, such as the garbage collector.
    NotTheirs,
    /// They did it, and we would not.
    TheyOnly,
    /// We would do it, and they did not.
    WeOnly,
    /// A counter of the status differs.
    Status,
}

/// Every verdict, in the order of summaries.
pub(crate) const ALL: [Verdict; 8] = [
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
    /// Its name in lines and metrics.
    pub(crate) fn name(self) -> &'static str {
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

    /// Whether a person should look at it.
    pub(crate) fn is_difference(self) -> bool {
        match self {
            Verdict::TheyOnly | Verdict::WeOnly | Verdict::Status => true,
            Verdict::Agreed
            | Verdict::OtherNodeFirst
            | Verdict::Late
            | Verdict::Deliberate
            | Verdict::NotTheirs => false,
        }
    }

    /// The first word of its line; `None` where no line is printed.
    pub(crate) fn heading(self) -> Option<&'static str> {
        match self {
            Verdict::Agreed | Verdict::OtherNodeFirst | Verdict::NotTheirs => None,
            Verdict::Late => Some("NOTE"),
            Verdict::Deliberate => Some("DELIBERATE"),
            Verdict::TheyOnly | Verdict::WeOnly | Verdict::Status => Some("DIFFERENCE"),
        }
    }
}

/// A verdict with its subject and its explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ComparisonFinding {
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// The DaemonSet, as namespace/name.
    pub(crate) daemon_set: String,
    /// The action or the counter.
    pub(crate) subject: String,
    /// Why the verdict is so; empty for agreement.
    pub(crate) explanation: String,
}

impl ComparisonFinding {
    /// Its line, without the time.
    pub(crate) fn line(&self) -> String {
        let heading = self.verdict.heading().unwrap_or("SAME");
        let name = self.verdict.name();
        format!("{heading} {name} {} {} | {}", self.daemon_set, self.subject, self.explanation)
    }
}

/// The counts of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FindingCounts {
    actions: u64,
    statuses: u64,
    findings: BTreeMap<Verdict, u64>,
}

impl FindingCounts {
    /// Counts an action of the other controller.
    pub(crate) fn add_action(&mut self) {
        self.actions += 1;
    }

    /// Counts a status update of the other controller.
    pub(crate) fn add_status(&mut self) {
        self.statuses += 1;
    }

    /// Counts a finding.
    pub(crate) fn add_finding(&mut self, verdict: Verdict) {
        *self.findings.entry(verdict).or_default() += 1;
    }

    /// The number of findings with this verdict.
    pub(crate) fn findings(&self, verdict: Verdict) -> u64 {
        self.findings.get(&verdict).copied().unwrap_or_default()
    }

    /// The number of findings that a person should look at.
    pub(crate) fn differences(&self) -> u64 {
        ALL.into_iter().filter(|verdict| verdict.is_difference()).map(|verdict| self.findings(verdict)).sum()
    }

    /// The summary line, without the time.
    pub(crate) fn summary(&self, daemon_sets: usize, waiting: usize) -> String {
        let findings = ALL.map(|verdict| format!("{}={}", verdict.name(), self.findings(verdict))).join(" ");
        format!(
            "SUMMARY daemonsets={daemon_sets} actions-seen={} statuses-seen={} {findings} waiting={waiting} differences={}",
            self.actions,
            self.statuses,
            self.differences()
        )
    }
}
