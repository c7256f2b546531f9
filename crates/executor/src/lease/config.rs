//! Whose lease it is, and its durations.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

/// The lease, and the process that wants it.
///
/// ```
/// use daemonset_executor::lease::LeaseConfig;
/// use std::time::Duration;
///
/// let config = LeaseConfig::new("kube-system", "my-operator").seconds(30);
/// assert_eq!(config.durations().renew_deadline(), Duration::from_secs(20));
/// assert_eq!(config.durations().retry_period(), Duration::from_secs(4));
/// assert_eq!(config.to_string(), "kube-system/my-operator");
/// ```
#[derive(Debug, Clone)]
pub struct LeaseConfig {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) identity: String,
    pub(crate) durations: LeaseDurations,
}

impl LeaseConfig {
    /// The lease of this name, for 15 seconds. The identity of this process is the name of its pod or machine, with a random number.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        let name = name.into();
        let host = host_name().unwrap_or_else(|| name.clone());
        // Two processes on one machine, and two lives of one pod, have different ones.
        let identity = format!("{host}_{:016x}", RandomState::new().build_hasher().finish());
        LeaseConfig { namespace: namespace.into(), name, identity, durations: LeaseDurations::default() }
    }

    /// Sets how long other processes honour the lease after its last change, in seconds; at least 1. With fewer than 3 the requests have
    /// less than half a second each.
    #[must_use]
    pub fn seconds(mut self, seconds: u32) -> Self {
        self.durations = LeaseDurations { seconds: seconds.max(1) };
        self
    }

    /// Sets the identity of this process, which `kubectl get lease` shows. No two processes may have the same, nor one process after its
    /// restart. An empty one, such as that of a variable without a value, changes nothing: a lease that nobody holds has it.
    #[must_use]
    pub fn identity(mut self, identity: impl Into<String>) -> Self {
        let identity = identity.into();
        if !identity.is_empty() {
            self.identity = identity;
        }
        self
    }

    /// The identity of this process.
    pub fn holder(&self) -> &str {
        &self.identity
    }

    /// The durations.
    pub fn durations(&self) -> LeaseDurations {
        self.durations
    }
}

/// Namespace and name: `kube-system/my-operator`.
impl std::fmt::Display for LeaseConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// The durations of leader election: client-go's 15, 10 and 2 seconds (v1.36 `component-base/config/v1alpha1/defaults.go`), or the
/// same shares of another lease duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseDurations {
    seconds: u32,
}

impl Default for LeaseDurations {
    /// Those of a lease of 15 seconds.
    fn default() -> Self {
        LeaseDurations { seconds: 15 }
    }
}

impl LeaseDurations {
    /// How long other processes wait after they last saw the lease change.
    pub fn lease_duration(self) -> Duration {
        Duration::from_secs(self.seconds.into())
    }

    /// How long a leader may act after it began to send its last successful renewal.
    pub fn renew_deadline(self) -> Duration {
        self.lease_duration() * 2 / 3
    }

    /// The time from one attempt to the next.
    pub fn retry_period(self) -> Duration {
        self.lease_duration() * 2 / 15
    }

    /// How long one response is awaited: short enough for a second request before the deadline.
    pub(crate) fn response_timeout(self) -> Duration {
        self.renew_deadline() / 2
    }

    pub(crate) fn seconds(self) -> i32 {
        i32::try_from(self.seconds).unwrap_or(i32::MAX)
    }
}

/// The name of the pod, or of the machine.
fn host_name() -> Option<String> {
    let name = std::env::var("HOSTNAME").ok().or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `kubectl get lease` shows the machine that leads.
    #[test]
    fn the_identity_begins_with_the_name_of_the_pod_or_of_the_machine() {
        let config = LeaseConfig::new("ns", "my-operator");
        let (name, number) = config.holder().rsplit_once('_').unwrap();
        assert_eq!((name, number.len()), (name.trim(), 16));
        let files = ["/etc/hostname", "/proc/sys/kernel/hostname"];
        let of_machine = files.into_iter().filter_map(|file| std::fs::read_to_string(file).ok());
        let mut known: Vec<String> = of_machine.map(|name| name.trim().to_owned()).collect();
        known.extend(std::env::var("HOSTNAME"));
        known.push("my-operator".to_owned());
        assert!(known.iter().any(|known| known == name), "{name} is not among {known:?}");
    }

    #[test]
    fn fifteen_seconds_give_the_durations_of_client_go() {
        let durations = LeaseConfig::new("ns", "my-operator").durations();
        assert_eq!(durations.lease_duration(), Duration::from_secs(15));
        assert_eq!(durations.renew_deadline(), Duration::from_secs(10));
        assert_eq!(durations.retry_period(), Duration::from_secs(2));
        assert_eq!(
            durations.response_timeout(),
            Duration::from_secs(5),
            "two requests fit before the deadline"
        );
    }
}
