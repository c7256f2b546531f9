//! The status of a DaemonSet, from and to the typed form.

use crate::k8s_openapi::{Unreadable, read};
use crate::model::DaemonSetStatus;
use k8s_openapi::api::apps::v1 as apps;
use serde_json::{Map, Value};

impl From<&apps::DaemonSetStatus> for DaemonSetStatus {
    fn from(typed: &apps::DaemonSetStatus) -> Self {
        DaemonSetStatus {
            current_number_scheduled: typed.current_number_scheduled,
            number_misscheduled: typed.number_misscheduled,
            desired_number_scheduled: typed.desired_number_scheduled,
            number_ready: typed.number_ready,
            observed_generation: typed.observed_generation.unwrap_or(0),
            updated_number_scheduled: typed.updated_number_scheduled.unwrap_or(0),
            number_available: typed.number_available.unwrap_or(0),
            number_unavailable: typed.number_unavailable.unwrap_or(0),
            collision_count: typed.collision_count,
            conditions: typed.conditions.iter().flatten().map(condition).collect(),
        }
    }
}

impl TryFrom<&DaemonSetStatus> for apps::DaemonSetStatus {
    type Error = Unreadable;

    /// # Errors
    /// When a condition does not have the typed form. Fields of a condition that the types do not know are lost.
    fn try_from(status: &DaemonSetStatus) -> Result<Self, Unreadable> {
        let conditions = (0..).zip(&status.conditions).map(|(index, condition): (usize, _)| {
            read(condition).map_err(|error| error.below(&format!("conditions[{index}]")))
        });
        let conditions: Vec<apps::DaemonSetCondition> = conditions.collect::<Result<_, _>>()?;
        Ok(apps::DaemonSetStatus {
            collision_count: status.collision_count,
            conditions: (!conditions.is_empty()).then_some(conditions),
            current_number_scheduled: status.current_number_scheduled,
            desired_number_scheduled: status.desired_number_scheduled,
            number_available: Some(status.number_available),
            number_misscheduled: status.number_misscheduled,
            number_ready: status.number_ready,
            number_unavailable: Some(status.number_unavailable),
            observed_generation: Some(status.observed_generation),
            updated_number_scheduled: Some(status.updated_number_scheduled),
        })
    }
}

/// A condition as the API server writes it: whole seconds, and no member for an absent field.
fn condition(typed: &apps::DaemonSetCondition) -> Value {
    let text = |text: &str| Value::from(text);
    let members = [
        (
            "lastTransitionTime",
            typed.last_transition_time.as_ref().map(|time| text(&format!("{:.0}", time.0))),
        ),
        ("message", typed.message.as_deref().map(text)),
        ("reason", typed.reason.as_deref().map(text)),
        ("status", Some(text(&typed.status))),
        ("type", Some(text(&typed.type_))),
    ];
    let present = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(present.collect::<Map<_, _>>())
}
