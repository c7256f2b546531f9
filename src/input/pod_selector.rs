//! The selector of the pods that a drain touches.

use crate::input::drain::unreadable;
use crate::input::strict_selector::StrictSelector;
use daemonset_objects::InvalidInput;
use daemonset_objects::internal::Object;
use daemonset_objects::kubernetes::Selector;
use daemonset_objects::model::LabelSelector;
use serde::Serialize;
use serde_json::Value;

/// The field of the policy, for paths.
const FIELD: &str = "podSelector";

/// A label selector without problems; the default selects all pods.
///
/// ```
/// use daemonset::model::LabelSelector;
/// use daemonset::policy::PodSelector;
/// use serde_json::{from_value, json};
///
/// let near: LabelSelector = from_value(json!({"matchExpressions": [{"key": "tier", "operator": "Near"}]}))?;
/// let invalid = PodSelector::new(near).unwrap_err();
/// assert_eq!(invalid.problems[0].path, "podSelector.matchExpressions[0].operator");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct PodSelector(LabelSelector);

impl PodSelector {
    /// Checks a selector.
    ///
    /// # Errors
    /// Every requirement that the API server refuses (v1.36 `apimachinery/pkg/labels/selector.go NewRequirement`).
    pub fn new(selector: LabelSelector) -> Result<Self, InvalidInput> {
        Selector::new(&selector, FIELD)?;
        Ok(PodSelector(selector))
    }

    /// The selector as it is written.
    #[must_use]
    pub fn as_label_selector(&self) -> &LabelSelector {
        &self.0
    }

    /// Whether it selects all pods.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The selector in the form that matches labels: for daemonset-drain.
    #[doc(hidden)]
    #[must_use]
    pub fn compiled(&self) -> Selector<'_> {
        // The same check has passed in `new`.
        Selector::new(&self.0, FIELD).unwrap_or_default()
    }

    /// Reads the field of a policy. It refuses members that a selector does not have: a misspelt `matchLabels` would select all pods.
    pub(crate) fn read(value: &Value) -> Result<Self, InvalidInput> {
        let Object(strict): Object<StrictSelector> =
            serde_path_to_error::deserialize(value).map_err(|error| unreadable(FIELD, &error))?;
        PodSelector::new(strict.into())
    }
}
