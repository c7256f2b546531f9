//! Requirements over labels, compiled: label selectors and node selectors are made of them.

use crate::model::{LabelSelector, Labels, Requirement};
use crate::problem::{InvalidInput, Problem, Problems};
use crate::view::{Known, LabelsView, Truth};
use crate::words::names::{is_label_key, is_label_value};
use std::borrow::Cow;

/// A valid operator with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
    Gt(i64),
    Lt(i64),
}

/// The keys, values and operators that a requirement may have: `Gt` and `Lt` are for node selectors only, and fields have no labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, missing_docs, reason = "internal")]
pub enum Vocabulary {
    LabelSelector,
    NodeSelector,
    NodeFields,
}

/// A requirement that is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledRequirement {
    key: String,
    test: Test,
}

impl CompiledRequirement {
    /// Compiles a requirement, or reports its problem at `path`
    /// (v1.36 `apimachinery/pkg/labels/selector.go NewRequirement`).
    pub fn compile(
        requirement: &Requirement,
        vocabulary: Vocabulary,
        path: &str,
        problems: &mut Problems,
    ) -> Option<Self> {
        let Requirement { key, operator, values } = requirement;
        if key.is_empty() {
            problems.add(Problem::required(format!("{path}.key")));
            return None;
        }
        let nodes = vocabulary != Vocabulary::LabelSelector;
        if vocabulary != Vocabulary::NodeFields && !are_labels(key, values, path, problems) {
            return None;
        }
        let test = match operator.as_str() {
            "In" if !values.is_empty() => Test::In(values.clone()),
            "NotIn" if !values.is_empty() => Test::NotIn(values.clone()),
            "In" | "NotIn" => {
                problems.add(Problem::invalid(format!("{path}.values"), "[]", "needs at least one value"));
                return None;
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                problems.add(Problem::invalid(format!("{path}.values"), values, "must be empty"));
                return None;
            }
            "Exists" => Test::Exists,
            "DoesNotExist" => Test::DoesNotExist,
            "Gt" | "Lt" if nodes => match values.as_slice().first().map(|value| value.parse()) {
                Some(Ok(bound)) if values.len() == 1 && operator == "Gt" => Test::Gt(bound),
                Some(Ok(bound)) if values.len() == 1 => Test::Lt(bound),
                _ => {
                    let what = "must be exactly one integer";
                    problems.add(Problem::invalid(format!("{path}.values"), values, what));
                    return None;
                }
            },
            other => {
                let must = match vocabulary {
                    Vocabulary::NodeSelector | Vocabulary::NodeFields => {
                        "must be In, NotIn, Exists, DoesNotExist, Gt or Lt"
                    }
                    Vocabulary::LabelSelector => "must be In, NotIn, Exists or DoesNotExist",
                };
                problems.add(Problem::invalid(format!("{path}.operator"), other, must));
                return None;
            }
        };
        Some(CompiledRequirement { key: key.clone(), test })
    }

    /// Whether a label (or field) with this value satisfies it; `None` is an absent label.
    #[inline]
    pub fn accepts(&self, value: Option<&str>) -> bool {
        match &self.test {
            Test::In(values) => value.is_some_and(|v| values.iter().any(|x| x == v)),
            Test::NotIn(values) => value.is_none_or(|v| !values.iter().any(|x| x == v)),
            Test::Exists => value.is_some(),
            Test::DoesNotExist => value.is_none(),
            Test::Gt(bound) => integer(value).is_some_and(|v| v > *bound),
            Test::Lt(bound) => integer(value).is_some_and(|v| v < *bound),
        }
    }

    fn accepts_label(&self, labels: LabelsView<'_>) -> bool {
        self.accepts(labels.get(&self.key))
    }

    /// The key of its label.
    #[inline]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The same as [`accepts`](Self::accepts) for a value that may not be known.
    #[inline]
    pub fn accepts_known(&self, value: Known<'_>) -> Truth {
        value.meets(
            |value| self.accepts(value),
            || match &self.test {
                Test::Exists => Some(true),
                Test::DoesNotExist => Some(false),
                Test::In(_) | Test::NotIn(_) | Test::Gt(_) | Test::Lt(_) => None,
            },
        )
    }
}

/// Whether a label can have this key, and each of these values; if not, that is a problem. No object has such a label, so that the
/// requirement would select nothing or, by `NotIn`, everything.
fn are_labels(key: &str, values: &[String], path: &str, problems: &mut Problems) -> bool {
    let before = problems.len();
    if !is_label_key(key) {
        problems.add(Problem::invalid(format!("{path}.key"), key, "must be the key of a label"));
    }
    for value in values.iter().filter(|value| !is_label_value(value)) {
        problems.add(Problem::invalid(format!("{path}.values"), value, "must be the value of a label"));
    }
    problems.len() == before
}

#[inline]
fn integer(value: Option<&str>) -> Option<i64> {
    value.and_then(|v| v.parse().ok())
}

/// A label selector, compiled.
///
/// ```
/// use daemonset::{kubernetes::Selector, model::{LabelSelector, Labels}};
/// use serde_json::{from_value, json};
///
/// let selector: LabelSelector = from_value(json!({
///     "matchLabels": {"app": "agent"},
///     "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["edge"]}],
/// }))?;
/// let selector = Selector::new(&selector, "spec.selector").unwrap();
/// let labels: Labels = [("app", "agent")].into_iter().collect();
/// assert!(selector.matches_labels(&labels)); // an absent label is not in the list
/// assert!(!selector.matches_labels(&labels.with("tier", "edge")));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Selector<'a> {
    labels: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    requirements: Vec<CompiledRequirement>,
}

impl<'a> Selector<'a> {
    /// Compiles a label selector; `path` is its field's, for the problems.
    ///
    /// # Errors
    /// Every requirement that the API server refuses (v1.36 `apimachinery/pkg/labels/selector.go NewRequirement`).
    pub fn new(selector: &'a LabelSelector, path: &str) -> Result<Self, InvalidInput> {
        let mut problems = Problems::default();
        let compiled = Selector::compile(selector, path, &mut problems);
        problems.into_result().map(|()| compiled)
    }

    #[doc(hidden)]
    pub fn compile(selector: &'a LabelSelector, path: &str, problems: &mut Problems) -> Self {
        for (key, value) in selector.match_labels.iter() {
            if !is_label_key(key) {
                problems.add(Problem::invalid(
                    format!("{path}.matchLabels"),
                    key,
                    "must be the key of a label",
                ));
            } else if !is_label_value(value) {
                let path = format!("{path}.matchLabels.{key}");
                problems.add(Problem::invalid(path, value, "must be the value of a label"));
            }
        }
        let compile = |(index, requirement)| {
            let path = format!("{path}.matchExpressions[{index}]");
            CompiledRequirement::compile(requirement, Vocabulary::LabelSelector, &path, problems)
        };
        Selector {
            labels: selector.match_labels.iter().map(|(key, value)| (key.into(), value.into())).collect(),
            requirements: selector.match_expressions.iter().enumerate().filter_map(compile).collect(),
        }
    }

    /// The same selector, which borrows nothing.
    #[doc(hidden)]
    pub fn into_owned(self) -> Selector<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        let labels = self.labels.into_iter().map(|(key, value)| (owned(key), owned(value))).collect();
        Selector { labels, requirements: self.requirements }
    }

    /// Whether it has no requirement, and so would select every pod of the namespace.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.requirements.is_empty()
    }

    /// Whether an object with these labels is selected.
    pub fn matches_labels(&self, labels: &Labels) -> bool {
        self.matches(labels)
    }

    #[doc(hidden)]
    pub fn matches<'l>(&self, labels: impl Into<LabelsView<'l>>) -> bool {
        let labels = labels.into();
        self.labels.iter().all(|(key, value)| labels.get(key) == Some(&**value))
            && self.requirements.iter().all(|requirement| requirement.accepts_label(labels))
    }
}
