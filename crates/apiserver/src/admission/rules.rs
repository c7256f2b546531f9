//! The rules of validation that callers choose: the form of the DaemonSet, and whether surge and host ports exclude
//! each other.

use crate::patch::{PatchError, merge_as};
use crate::schema::{self, DAEMON_SET, PROPOSED_DAEMON_SET, Struct};
use daemonset_objects::model::Owner;
use serde_json::Value;

/// The two forms of an update strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Form {
    /// `apps/v1`: RollingUpdate, which may surge, and OnDelete.
    #[default]
    AppsV1,
    /// The proposal's: RollingUpdate, OnDelete and SurgingRollingUpdate, whose maxSurge is under
    /// `surgingRollingUpdate`.
    Proposal,
}

impl Form {
    /// The fields of a DaemonSet of this form.
    pub(crate) fn fields(self) -> &'static Struct {
        match self {
            Form::AppsV1 => &DAEMON_SET,
            Form::Proposal => &PROPOSED_DAEMON_SET,
        }
    }

    /// Decodes a DaemonSet as the API server does: unknown fields are dropped, quantities and times are in their
    /// canonical spelling.
    ///
    /// # Errors
    /// The decoder's first message.
    pub fn decode(self, daemon_set: &Value) -> Result<Value, String> {
        schema::decode_struct(self.fields(), daemon_set)
            .map_err(|refused| refused.first().map_or(String::new(), ToString::to_string))
    }

    /// A decoded DaemonSet as Go's `json.MarshalIndent` prints it, with four spaces: the fields of a struct in the order of
    /// their definition, the keys of a map sorted, `<`, `>` and `&` escaped. No line break at the end.
    pub fn indented_json(self, daemon_set: &Value) -> String {
        schema::indented(self.fields(), daemon_set)
    }

    /// Applies a strategic merge patch to a DaemonSet of this form.
    ///
    /// # Errors
    /// The API server's own, see [`PatchError`].
    pub fn strategic_merge(self, daemon_set: &Value, patch: &Value) -> Result<Value, PatchError> {
        merge_as(self.fields(), daemon_set, patch)
    }

    /// The form of a DaemonSet. Only the proposal's API has the strategy type `SurgingRollingUpdate`.
    pub fn from_daemon_set(daemon_set: &Value) -> Self {
        match daemon_set.pointer("/spec/updateStrategy/type").and_then(Value::as_str) {
            Some("SurgingRollingUpdate") => Form::Proposal,
            Some(_) | None => Form::AppsV1,
        }
    }
}

/// Whether a template that surges may have host ports. The old and the new pod of a node can't both bind one, so a
/// rollout of such a template never finishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SurgeWithHostPort {
    /// Allowed, as in Kubernetes.
    #[default]
    Allowed,
    /// Each `hostPort` of a template that surges is an error.
    Refused,
}

/// The treatment of fields that the API does not have: the parameter `fieldValidation` of a request, and `--validate` of
/// kubectl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FieldValidation {
    /// They are dropped in silence.
    Ignore,
    /// They are dropped with a warning: the API server's default.
    #[default]
    Warn,
    /// They are refused: the default of `kubectl create` and `kubectl replace`.
    Strict,
}

/// The rules that a DaemonSet is validated by. The default is Kubernetes' behavior.
///
/// ```
/// use daemonset_apiserver::admission::{Form, Rules, SurgeWithHostPort};
///
/// let rules = Rules::new().form(Form::Proposal).surge_with_host_port(SurgeWithHostPort::Refused);
/// assert_ne!(rules, Rules::default());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Rules {
    /// The kind of the objects, in requests and in messages: `apps/v1` DaemonSet, or a custom kind with its fields.
    pub owner: Owner,
    /// The form of the update strategy.
    pub form: Form,
    /// Whether a template that surges may have host ports.
    pub surge_with_host_port: SurgeWithHostPort,
    /// The treatment of fields that the API does not have.
    pub field_validation: FieldValidation,
}

impl Rules {
    /// The rules of Kubernetes: the form of `apps/v1`, and surge with host ports allowed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the kind of the objects.
    ///
    /// ```
    /// use daemonset_objects::model::Owner;
    /// use daemonset_apiserver::admission::{Rules, create};
    /// use serde_json::json;
    ///
    /// let rules = Rules::new().owner(Owner::new("agents.example.com/v1", "AgentSet"));
    /// let refused = create(&json!({"kind": "AgentSet", "metadata": {"name": "web"}, "spec": {"minReadySeconds": -1}}), &rules);
    /// assert!(refused.unwrap_err().to_string().starts_with("The AgentSet \"web\" is invalid: "));
    /// ```
    #[must_use]
    pub fn owner(self, owner: Owner) -> Self {
        Rules { owner, ..self }
    }

    /// Sets the form of the update strategy.
    #[must_use]
    pub fn form(self, form: Form) -> Self {
        Rules { form, ..self }
    }

    /// Sets whether a template that surges may have host ports.
    #[must_use]
    pub fn surge_with_host_port(self, surge_with_host_port: SurgeWithHostPort) -> Self {
        Rules { surge_with_host_port, ..self }
    }

    /// Sets the treatment of fields that the API does not have.
    #[must_use]
    pub fn field_validation(self, field_validation: FieldValidation) -> Self {
        Rules { field_validation, ..self }
    }
}
