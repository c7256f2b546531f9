//! The update strategy, in either form.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::rules::Form;
use crate::go::GoValue;
use crate::json::{member, text};
use crate::syntax::percent_error;
use serde_json::Value;

/// `spec` has the strategy; `path` is the strategy's own.
pub(super) fn update_strategy(spec: &Value, form: Form, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let strategy = spec.get("updateStrategy").unwrap_or(&Value::Null);
    match form {
        Form::AppsV1 => apps_v1(strategy, path, errors),
        Form::Proposal => proposal(strategy, path, errors),
    }
}

/// Whether the strategy lets the old and the new pod of a node run at the same time.
pub(super) fn surges(spec: &Value, form: Form) -> bool {
    let strategy = spec.get("updateStrategy").unwrap_or(&Value::Null);
    let has_surge = |limits: &str| {
        let limits = strategy.get(limits).unwrap_or(&Value::Null);
        LimitText::get(limits, "maxSurge").amount() != 0
    };
    match (text(strategy, "type"), form) {
        ("RollingUpdate", Form::AppsV1) => has_surge("rollingUpdate"),
        ("SurgingRollingUpdate", Form::Proposal) => true,
        _ => false,
    }
}

/// v1.36 apps/validation `ValidateDaemonSetUpdateStrategy`.
fn apps_v1(strategy: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    match text(strategy, "type") {
        "OnDelete" => {}
        "RollingUpdate" => match member(strategy, "rollingUpdate") {
            Some(limits) => rolling_update(limits, &path.child("rollingUpdate"), errors),
            None => errors.required(&path.child("rollingUpdate"), ""),
        },
        _ => errors.not_supported(path, printed(strategy), &["RollingUpdate", "OnDelete"]),
    }
}

/// v1.36 apps/validation `ValidateRollingUpdateDaemonSet`.
fn rolling_update(limits: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let unavailable = LimitText::get(limits, "maxUnavailable");
    let surge = LimitText::get(limits, "maxSurge");
    unavailable.is_int_or_percent(&path.child("maxUnavailable"), errors);
    surge.is_int_or_percent(&path.child("maxSurge"), errors);
    unavailable.is_at_most_100_percent(&path.child("maxUnavailable"), errors);
    surge.is_at_most_100_percent(&path.child("maxSurge"), errors);
    match (unavailable.amount() != 0, surge.amount() != 0) {
        (true, true) => {
            let detail = "may not be set when maxUnavailable is non-zero";
            errors.invalid(&path.child("maxSurge"), surge.printed(), detail);
        }
        (false, false) => errors.required(&path.child("maxUnavailable"), "cannot be 0 when maxSurge is 0"),
        (true, false) | (false, true) => {}
    }
}

/// The proposal has three strategies, each with limits of its own (proposal: `DaemonSetUpdateStrategy`).
fn proposal(strategy: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let kind = text(strategy, "type");
    if member(strategy, "surgingRollingUpdate").is_some() && kind != "SurgingRollingUpdate" {
        let detail = format!("may not be specified when strategy `type` is '{kind}'");
        errors.forbidden(&path.child("surgingRollingUpdate"), &detail);
    }
    match kind {
        "OnDelete" => {}
        "RollingUpdate" => replacing(strategy, &path.child("rollingUpdate"), errors),
        "SurgingRollingUpdate" => surging(strategy, &path.child("surgingRollingUpdate"), errors),
        _ => {
            let known = ["RollingUpdate", "OnDelete", "SurgingRollingUpdate"];
            errors.not_supported(&path.child("type"), GoValue::named(kind), &known);
        }
    }
}

/// Without surge, a rollout with `maxUnavailable` 0 can't proceed (proposal:
/// `RollingUpdateDaemonSet.MaxUnavailable`).
fn replacing(strategy: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(limits) = member(strategy, "rollingUpdate") else { return errors.required(path, "") };
    let unavailable = LimitText::get(limits, "maxUnavailable");
    unavailable.checked(&path.child("maxUnavailable"), errors);
    if member(limits, "maxSurge").is_some_and(|surge| *surge != 0) {
        let detail = "may only be set when strategy `type` is 'SurgingRollingUpdate'";
        errors.forbidden(&path.child("maxSurge"), detail);
    }
    if unavailable.amount() == 0 {
        errors.invalid(&path.child("maxUnavailable"), unavailable.printed(), "cannot be 0");
    }
}

/// proposal: `SurgingRollingUpdateDaemonSet.MaxSurge` cannot be 0.
fn surging(strategy: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(limits) = member(strategy, "surgingRollingUpdate") else { return errors.required(path, "") };
    let surge = LimitText::get(limits, "maxSurge");
    surge.checked(&path.child("maxSurge"), errors);
    if surge.amount() == 0 {
        errors.invalid(&path.child("maxSurge"), surge.printed(), "cannot be 0");
    }
}

/// The strategy as Go prints the API server's internal type, whose fields have no JSON names.
fn printed(strategy: &Value) -> GoValue {
    let limits = member(strategy, "rollingUpdate").map(|limits| {
        let limit = |name| LimitText::get(limits, name).printed();
        GoValue::record([("MaxUnavailable", limit("maxUnavailable")), ("MaxSurge", limit("maxSurge"))])
    });
    let kind = GoValue::named(text(strategy, "type"));
    GoValue::record([("Type", kind), ("RollingUpdate", limits.unwrap_or_else(GoValue::null))])
}

/// A number of nodes or a percentage of them; 0 if absent.
#[derive(Debug, Clone, Copy)]
enum LimitText<'a> {
    Number(i64),
    Text(&'a str),
}

impl<'a> LimitText<'a> {
    fn get(limits: &'a Value, name: &str) -> Self {
        match limits.get(name) {
            Some(Value::String(text)) => LimitText::Text(text),
            other => LimitText::Number(other.and_then(Value::as_i64).unwrap_or(0)),
        }
    }

    fn printed(self) -> GoValue {
        match self {
            LimitText::Number(number) => GoValue::from(number),
            LimitText::Text(text) => GoValue::named(text),
        }
    }

    /// The number that Go computes: a string without a percent sign is read by its digits, so "50" is not 0 (v1.36
    /// apps/validation `getIntOrPercentValue`).
    fn amount(self) -> i64 {
        match self {
            LimitText::Number(number) => number,
            LimitText::Text(text) => atoi(self.percent().unwrap_or(text)),
        }
    }

    /// The digits before the percent sign, if it is a percentage (v1.36 apps/validation `getPercentValue`).
    fn percent(self) -> Option<&'a str> {
        match self {
            LimitText::Text(text) if percent_error(text).is_none() => text.strip_suffix('%'),
            LimitText::Number(_) | LimitText::Text(_) => None,
        }
    }

    /// v1.36 apps/validation `ValidatePositiveIntOrPercent`.
    fn is_int_or_percent(self, path: &FieldPath<'_>, errors: &mut ErrorList) {
        match self {
            LimitText::Number(number) => errors.negative(path, number),
            LimitText::Text(text) => {
                if let Some(message) = percent_error(text) {
                    errors.invalid(path, self.printed(), message);
                }
            }
        }
    }

    /// v1.36 apps/validation `IsNotMoreThan100Percent`.
    fn is_at_most_100_percent(self, path: &FieldPath<'_>, errors: &mut ErrorList) {
        if self.percent().is_some_and(|percent| atoi(percent) > 100) {
            errors.invalid(path, self.printed(), "must not be greater than 100%");
        }
    }

    fn checked(self, path: &FieldPath<'_>, errors: &mut ErrorList) {
        self.is_int_or_percent(path, errors);
        self.is_at_most_100_percent(path, errors);
    }
}

/// Go's `strconv.Atoi` with its error ignored: 0 for a string that is no number, the nearest integer for a number out
/// of range.
fn atoi(text: &str) -> i64 {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    match text.parse() {
        Ok(number) => number,
        Err(_) if is_number && text.starts_with('-') => i64::MIN,
        Err(_) if is_number => i64::MAX,
        Err(_) => 0,
    }
}
