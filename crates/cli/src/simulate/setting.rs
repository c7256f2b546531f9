//! A setting to try: strategy and limits, as a person writes them.

use crate::simulate::policy::PolicyChoice;
use daemonset::Recording;
use daemonset::model::{DaemonSet, IntOrString, RollingUpdate, SurgingRollingUpdate};
use serde_json::Value;

/// Changes to the DaemonSet; other fields stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Setting {
    /// As it was written; empty for the DaemonSet as it is.
    pub(crate) label: String,
    kind: Option<String>,
    max_unavailable: Option<IntOrString>,
    max_surge: Option<IntOrString>,
    min_ready_seconds: Option<i32>,
    policy: Option<PolicyChoice>,
}

impl Setting {
    /// `maxUnavailable=10%,minReadySeconds=30`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut setting = Setting::default();
        for part in text.split(',') {
            let Some((key, value)) = part.split_once('=') else {
                return Err(format!("--compare {text:?}: must be NAME=VALUE, several with commas"));
            };
            setting.set(key.trim(), value.trim()).map_err(|error| format!("--compare {text:?}: {error}"))?;
        }
        Ok(setting)
    }

    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "type" => self.kind = Some(value.to_owned()),
            "maxUnavailable" => self.max_unavailable = Some(limit(key, value)?),
            "maxSurge" => self.max_surge = Some(limit(key, value)?),
            "minReadySeconds" => {
                let seconds = value.parse().ok().filter(|seconds| *seconds >= 0);
                let must = "must be a number of seconds";
                self.min_ready_seconds = Some(seconds.ok_or_else(|| format!("{key} {value:?}: {must}"))?);
            }
            "policy" => {
                self.choose(PolicyChoice::parse(value)?);
                return Ok(());
            }
            _ => {
                let must = "must be type, maxUnavailable, maxSurge, minReadySeconds or policy";
                return Err(format!("{key:?}: {must}"));
            }
        }
        let words = if key == "type" { value.to_owned() } else { format!("{key} {value}") };
        self.add_to_label(&words);
        Ok(())
    }

    pub(crate) fn choose(&mut self, policy: PolicyChoice) {
        self.add_to_label(&policy.label());
        self.policy = Some(policy);
    }

    pub(crate) fn policy_file(&self) -> Option<&str> {
        match &self.policy {
            Some(PolicyChoice::File { name, .. }) => Some(name),
            Some(PolicyChoice::None) | None => None,
        }
    }

    fn add_to_label(&mut self, words: &str) {
        let label = format!("{}, {words}", self.label);
        self.label = label.trim_start_matches(", ").to_owned();
    }

    /// A limit alone makes the strategy a RollingUpdate, and the other limit what the API server then asks for.
    pub(crate) fn apply(&self, recording: &mut Recording) {
        if let Some(policy) = &self.policy {
            policy.apply(recording);
        }
        self.apply_limits(&mut recording.daemon_set);
    }

    fn apply_limits(&self, daemon_set: &mut DaemonSet) {
        let spec = &mut daemon_set.spec;
        if let Some(seconds) = self.min_ready_seconds {
            spec.min_ready_seconds = seconds;
        }
        let strategy = &mut spec.update_strategy;
        if let Some(kind) = &self.kind {
            strategy.kind.clone_from(kind);
        }
        if self.max_unavailable.is_none() && self.max_surge.is_none() {
            return;
        }
        if strategy.kind == "SurgingRollingUpdate" {
            strategy.surging_rolling_update = Some(SurgingRollingUpdate { max_surge: self.max_surge });
            return;
        }
        if self.kind.is_none() {
            strategy.kind = "RollingUpdate".to_owned();
        }
        let none = Some(IntOrString::Int(0));
        strategy.rolling_update = Some(RollingUpdate {
            max_unavailable: self.max_unavailable.or(none),
            max_surge: self.max_surge.or(none),
        });
    }
}

fn limit(key: &str, value: &str) -> Result<IntOrString, String> {
    let json = value.parse::<u64>().map_or_else(|_| Value::from(value), Value::from);
    IntOrString::from_json(&json).map_err(|error| format!("{key}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn applied(text: &str) -> Value {
        let mut daemon_set = DaemonSet::default();
        Setting::parse(text).unwrap().apply_limits(&mut daemon_set);
        json!([daemon_set.spec.update_strategy, daemon_set.spec.min_ready_seconds])
    }

    #[test]
    fn a_limit_alone_makes_a_rolling_update() {
        let rolling = |unavailable: Value, surge: Value| json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": unavailable, "maxSurge": surge}});
        assert_eq!(applied("maxUnavailable=10%"), json!([rolling("10%".into(), 0.into()), 0]));
        assert_eq!(applied("maxSurge=2,minReadySeconds=30"), json!([rolling(0.into(), 2.into()), 30]));
        assert_eq!(
            applied("type=SurgingRollingUpdate,maxSurge=2"),
            json!([{"type": "SurgingRollingUpdate", "surgingRollingUpdate": {"maxSurge": 2}}, 0])
        );
        assert_eq!(applied("type=OnDelete"), json!([{"type": "OnDelete"}, 0]));
    }

    #[test]
    fn a_setting_that_can_not_be_read_is_an_error() {
        for (text, expected) in [
            ("maxUnavailable", "must be NAME=VALUE"),
            ("maxUnavailable=ten", "Invalid value: \"ten\""),
            ("minReadySeconds=-1", "must be a number of seconds"),
            ("nodes=3", "must be type, maxUnavailable"),
        ] {
            let error = Setting::parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(
            Setting::parse("maxUnavailable=1,minReadySeconds=5").unwrap().label,
            "maxUnavailable 1, minReadySeconds 5"
        );
    }
}
