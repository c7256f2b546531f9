//! A setting to try: strategy and limits, as a person writes them.

use daemonset::Recording;
use daemonset::model::{IntOrString, RollingUpdate, SurgingRollingUpdate, UpdateStrategy};
use daemonset::policy::InPlacePolicy;
use daemonset_view::policy::{self, PolicyChoice};
use serde_json::Value;

/// Changes to the DaemonSet; other fields stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// As it was written; empty for the DaemonSet as it is.
    pub label: String,
    kind: Option<String>,
    max_unavailable: Option<IntOrString>,
    max_surge: Option<IntOrString>,
    min_ready_seconds: Option<i32>,
    pull: Option<IntOrString>,
    in_place: Option<InPlacePolicy>,
    policy: Option<PolicyChoice>,
}

impl Setting {
    /// `maxUnavailable=10%,minReadySeconds=30`. `policy` finds the policy that a name stands for.
    ///
    /// # Errors
    /// A part that names nothing, or whose value can't be read.
    pub fn parse(text: &str, policy: impl Fn(&str) -> Result<PolicyChoice, String>) -> Result<Self, String> {
        let mut setting = Setting::default();
        for part in text.split(',') {
            let Some((key, value)) = part.split_once('=') else {
                return Err(format!("--compare {text:?}: must be NAME=VALUE, several with commas"));
            };
            let set = match key.trim() {
                "policy" => policy(value.trim()).map(|policy| setting.choose(policy)),
                key => setting.set(key, value.trim()),
            };
            set.map_err(|error| format!("--compare {text:?}: {error}"))?;
        }
        Ok(setting)
    }

    /// A part of it but the policy.
    ///
    /// # Errors
    /// As [`parse`](Setting::parse).
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "type" => self.kind = Some(value.to_owned()),
            "maxUnavailable" => self.max_unavailable = Some(limit(key, value)?),
            "maxSurge" => self.max_surge = Some(limit(key, value)?),
            "minReadySeconds" => {
                let seconds = value.parse().ok().filter(|seconds| *seconds >= 0);
                let must = "must be a number of seconds";
                self.min_ready_seconds = Some(seconds.ok_or_else(|| format!("{key} {value:?}: {must}"))?);
            }
            "pull" => self.pull = Some(limit(key, value)?),
            "inPlace" => {
                let choice = serde_json::from_value(value.into());
                self.in_place = Some(choice.map_err(|error| format!("{key}: {error}"))?);
            }
            _ => {
                let must = "must be type, maxUnavailable, maxSurge, minReadySeconds, pull, inPlace or policy";
                return Err(format!("{key:?}: {must}"));
            }
        }
        let words = match (key, self.in_place) {
            ("type", _) => value.to_owned(),
            ("inPlace", Some(InPlacePolicy::IfPossible)) => "in place".to_owned(),
            _ => format!("{key} {value}"),
        };
        self.add_to_label(&words);
        Ok(())
    }

    pub fn choose(&mut self, policy: PolicyChoice) {
        self.add_to_label(&policy.label());
        self.policy = Some(policy);
    }

    pub fn policy_file(&self) -> Option<&str> {
        match &self.policy {
            Some(PolicyChoice::File { name, .. }) => Some(name),
            Some(PolicyChoice::None) | None => None,
        }
    }

    fn add_to_label(&mut self, words: &str) {
        let label = format!("{}, {words}", self.label);
        self.label = label.trim_start_matches(", ").to_owned();
    }

    /// Applies settings, of which a later one prevails. A policy of any of them comes first: the other parts of all of them change it.
    ///
    /// # Errors
    /// Limits that the API server refuses.
    pub fn apply(settings: &[&Setting], recording: &mut Recording) -> Result<(), String> {
        for policy in settings.iter().filter_map(|setting| setting.policy.as_ref()) {
            policy.apply(recording);
        }
        settings.iter().try_for_each(|setting| setting.apply_parts(recording))
    }

    /// The limits are those of the strategy in force: the driven one, where a policy drives.
    fn apply_parts(&self, recording: &mut Recording) -> Result<(), String> {
        if let Some(parallel) = self.pull {
            policy::pull(recording, parallel);
        }
        if let Some(in_place) = self.in_place {
            policy::change_in_place(recording, in_place);
        }
        let spec = &mut recording.daemon_set.spec;
        if let Some(seconds) = self.min_ready_seconds {
            spec.min_ready_seconds = seconds;
        }
        if let Some(kind) = &self.kind {
            spec.update_strategy.kind.clone_from(kind);
        }
        if self.max_unavailable.is_none() && self.max_surge.is_none() {
            return Ok(());
        }
        let waits = matches!(spec.update_strategy.kind.as_str(), "" | "OnDelete");
        match policy::driven(recording).filter(|_| waits) {
            Some(mut driven) => {
                self.limit(&mut driven)?;
                policy::drive(recording, driven);
                Ok(())
            }
            None => self.limit(&mut recording.daemon_set.spec.update_strategy),
        }
    }

    /// A limit alone makes the strategy a RollingUpdate, and the other limit what the API server then asks for.
    fn limit(&self, strategy: &mut UpdateStrategy) -> Result<(), String> {
        if strategy.kind == "SurgingRollingUpdate" {
            strategy.surging_rolling_update = Some(SurgingRollingUpdate { max_surge: self.max_surge });
            let none = "maxUnavailable: SurgingRollingUpdate has maxSurge alone".to_owned();
            return if self.max_unavailable.is_some() { Err(none) } else { Ok(()) };
        }
        // As the API server says it (v1.36 `apps/validation ValidateRollingUpdateDaemonSet`).
        let is_some = |limit: Option<IntOrString>| limit.is_some_and(|limit| !limit.is_zero());
        match (is_some(self.max_unavailable), is_some(self.max_surge)) {
            (true, true) => return Err("maxSurge: may not be set when maxUnavailable is non-zero".to_owned()),
            (false, false) => return Err("maxUnavailable: cannot be 0 when maxSurge is 0".to_owned()),
            (true, false) | (false, true) => {}
        }
        if self.kind.is_none() {
            strategy.kind = "RollingUpdate".to_owned();
        }
        let none = Some(IntOrString::Int(0));
        strategy.rolling_update = Some(RollingUpdate {
            max_unavailable: self.max_unavailable.or(none),
            max_surge: self.max_surge.or(none),
        });
        Ok(())
    }
}

fn limit(key: &str, value: &str) -> Result<IntOrString, String> {
    let json = value.parse::<u64>().map_or_else(|_| Value::from(value), Value::from);
    IntOrString::from_json(&json).map_err(|error| format!("{key}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use daemonset::model::DaemonSet;
    use daemonset::policy::{Permissions, PullPolicy};
    use serde_json::json;

    fn parse(text: &str) -> Result<Setting, String> {
        Setting::parse(text, |name| Err(format!("no policy {name}")))
    }

    fn applied(text: &str) -> Value {
        let mut recording = Recording::new(DaemonSet::default(), jiff::Timestamp::UNIX_EPOCH);
        Setting::apply(&[&parse(text).unwrap()], &mut recording).unwrap();
        json!([recording.daemon_set.spec.update_strategy, recording.daemon_set.spec.min_ready_seconds])
    }

    #[test]
    fn a_limit_is_the_driven_one_where_a_policy_drives() {
        let limited = |annotation: Option<&str>, text: &str| {
            let mut recording = Recording::new(DaemonSet::default(), jiff::Timestamp::UNIX_EPOCH);
            let metadata = &mut recording.daemon_set.metadata;
            if let Some(annotation) = annotation {
                metadata.annotations = metadata.annotations.with("rollout.daemonset/policy", annotation);
            }
            recording.policy.external_controller =
                Some(UpdateStrategy { kind: "RollingUpdate".to_owned(), ..Default::default() });
            Setting::apply(&[&parse(text).unwrap()], &mut recording).unwrap();
            let kind = recording.daemon_set.spec.update_strategy.kind.clone();
            let limit = policy::driven(&recording).and_then(|driven| driven.rolling_update?.max_unavailable);
            (kind, limit, recording.daemon_set.metadata.annotations.get("rollout.daemonset/policy").is_some())
        };
        let three = Some(IntOrString::Int(3));
        assert_eq!(limited(None, "maxUnavailable=3"), (String::new(), three, false));
        let annotated = Some("drive:\n  type: RollingUpdate\nwaves: []\n");
        assert_eq!(limited(annotated, "maxUnavailable=3"), (String::new(), three, true));
        assert_eq!(limited(Some("waves: []"), "maxUnavailable=3"), (String::new(), three, true));
        assert_eq!(
            limited(None, "type=RollingUpdate,maxUnavailable=3"),
            ("RollingUpdate".to_owned(), None, false)
        );
    }

    /// A policy is tried with the limits that hold for all of the settings.
    #[test]
    fn a_limit_for_all_settings_is_that_of_the_policy_of_one() {
        let policy =
            PolicyChoice::named("driven.yaml", b"drive: {type: RollingUpdate}\npull: {parallel: 1}").unwrap();
        let all = parse("type=OnDelete,maxUnavailable=3,pull=2").unwrap();
        let mut one = Setting::default();
        one.choose(policy);
        let mut recording = Recording::new(DaemonSet::default(), jiff::Timestamp::UNIX_EPOCH);
        Setting::apply(&[&all, &one], &mut recording).unwrap();
        let limit = policy::driven(&recording).and_then(|driven| driven.rolling_update?.max_unavailable);
        assert_eq!(limit, Some(IntOrString::Int(3)));
        let annotated = recording.daemon_set.metadata.annotations.get("rollout.daemonset/policy").unwrap();
        assert!(annotated.contains(r#""pull":{"parallel":2}"#), "{annotated}");
    }

    #[test]
    fn a_choice_replaces_that_of_the_annotation() {
        let annotation = r#"{"inPlace":"IfPossible","pull":{"parallel":1,"timeoutSeconds":60}}"#;
        let mut recording = Recording::new(DaemonSet::default(), jiff::Timestamp::UNIX_EPOCH);
        let metadata = &mut recording.daemon_set.metadata;
        metadata.annotations = metadata.annotations.with("rollout.daemonset/policy", annotation);
        Setting::apply(&[&parse("pull=30%,inPlace=Never").unwrap()], &mut recording).unwrap();
        let (daemon_set, policy) = (&mut recording.daemon_set, &recording.policy);
        let policy = policy::normalize(daemon_set, policy, &Permissions::default()).unwrap();
        let pull = PullPolicy::default().parallel(IntOrString::Percent(30)).timeout_seconds(60);
        assert_eq!((policy.pull, policy.in_place), (Some(pull), InPlacePolicy::Never));
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
    fn limits_that_the_api_server_refuses_are_errors() {
        for (text, expected) in [
            ("maxUnavailable=3,maxSurge=2", "maxSurge: may not be set when maxUnavailable is non-zero"),
            ("maxUnavailable=0", "maxUnavailable: cannot be 0 when maxSurge is 0"),
            ("maxSurge=0%", "maxUnavailable: cannot be 0 when maxSurge is 0"),
            (
                "type=SurgingRollingUpdate,maxUnavailable=3",
                "maxUnavailable: SurgingRollingUpdate has maxSurge alone",
            ),
        ] {
            let mut recording = Recording::new(DaemonSet::default(), jiff::Timestamp::UNIX_EPOCH);
            let refused = Setting::apply(&[&parse(text).unwrap()], &mut recording);
            assert_eq!(refused, Err(expected.to_owned()), "{text}");
        }
        let mut recording = Recording::new(DaemonSet::default(), jiff::Timestamp::UNIX_EPOCH);
        let one = parse("maxUnavailable=0,maxSurge=1").unwrap();
        assert_eq!(Setting::apply(&[&one], &mut recording), Ok(()));
    }

    #[test]
    fn a_setting_that_can_not_be_read_is_an_error() {
        for (text, expected) in [
            ("maxUnavailable", "must be NAME=VALUE"),
            ("maxUnavailable=ten", "Invalid value: \"ten\""),
            ("minReadySeconds=-1", "must be a number of seconds"),
            ("nodes=3", "must be type, maxUnavailable"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(
            parse("maxUnavailable=1,minReadySeconds=5").unwrap().label,
            "maxUnavailable 1, minReadySeconds 5"
        );
    }
}
