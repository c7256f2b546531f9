//! A label selector as people write it for kubectl: `app=web,tier in (a, b),!old`
//! (v1.36 `apimachinery/pkg/labels/selector.go Parse`).

use crate::model::{LabelSelector, Requirement};
use crate::words::names::{is_label_key, is_label_value};
use std::str::FromStr;
use thiserror::Error;

/// A text that is no label selector.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?}: {problem}")]
#[non_exhaustive]
pub struct UnreadableSelector {
    /// The requirement with the problem; the whole text where the parentheses leave no requirements to tell apart.
    pub text: String,
    /// What is wrong with it.
    pub problem: SelectorProblem,
}

/// What is wrong with the text of a label selector.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SelectorProblem {
    /// A parenthesis is opened and not closed.
    #[error("a closing parenthesis is missing")]
    Unclosed,
    /// Parentheses within parentheses.
    #[error("parentheses are nested")]
    Nested,
    /// Nothing before or after a comma.
    #[error("a requirement is missing beside a comma")]
    Empty,
    /// Text after the values of `in` or `notin`.
    #[error("text follows the closing parenthesis")]
    AfterValues,
    /// Values without a key and one of their operators.
    #[error("before parentheses must be a key, and \"in\" or \"notin\"")]
    Operator,
    /// No object can have a label with this key.
    #[error("{0:?} must be the key of a label")]
    Key(String),
    /// No label can have this value.
    #[error("{0:?} must be the value of a label")]
    Value(String),
    /// What `>` or `<` compares with is no integer.
    #[error("{0:?} must be an integer")]
    Integer(String),
    /// `>` or `<`, which a [`LabelSelector`] does not have.
    #[error("\">\" and \"<\" are for the API server's lists only")]
    Order,
}

/// Reads the requirements of a label selector; an empty text has none. `>` and `<` become `Gt` and `Lt`, which a list of the API server
/// takes, and a [`LabelSelector`] does not: parse one of these from the text instead.
///
/// # Errors
/// The first problem.
pub fn label_requirements(text: &str) -> Result<Vec<Requirement>, UnreadableSelector> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let unreadable = |text: &str| {
        let text = text.to_owned();
        |problem| UnreadableSelector { text, problem }
    };
    let parts = parts(text).map_err(unreadable(text))?;
    parts.into_iter().map(|part| requirement(part.trim()).map_err(unreadable(part.trim()))).collect()
}

/// ```
/// use daemonset_objects::model::LabelSelector;
///
/// let selector: LabelSelector = "app=web,tier in (a, b),!old".parse()?;
/// assert_eq!(selector.match_expressions[1].values, ["a", "b"]);
/// let error = "a,,b".parse::<LabelSelector>().unwrap_err();
/// assert_eq!(error.to_string(), "\"\": a requirement is missing beside a comma");
/// # Ok::<(), daemonset_objects::kubernetes::UnreadableSelector>(())
/// ```
impl FromStr for LabelSelector {
    type Err = UnreadableSelector;

    /// As kubectl reads `--selector`; an empty text selects everything.
    fn from_str(text: &str) -> Result<Self, UnreadableSelector> {
        let match_expressions = label_requirements(text)?;
        if match_expressions.iter().any(|requirement| matches!(&*requirement.operator, "Gt" | "Lt")) {
            return Err(UnreadableSelector { text: text.to_owned(), problem: SelectorProblem::Order });
        }
        Ok(LabelSelector { match_expressions, ..LabelSelector::default() })
    }
}

/// The parts between commas outside of parentheses.
fn parts(text: &str) -> Result<Vec<&str>, SelectorProblem> {
    let (mut is_inside, mut is_nested) = (false, false);
    let parts = text.split(|character| {
        match character {
            '(' => {
                is_nested |= is_inside;
                is_inside = true;
            }
            ')' => is_inside = false,
            _ => {}
        }
        character == ',' && !is_inside
    });
    let parts = parts.collect();
    match (is_inside, is_nested) {
        (true, _) => Err(SelectorProblem::Unclosed),
        (_, true) => Err(SelectorProblem::Nested),
        _ => Ok(parts),
    }
}

fn requirement(text: &str) -> Result<Requirement, SelectorProblem> {
    if text.is_empty() {
        return Err(SelectorProblem::Empty);
    }
    if let Some((head, values)) = text.split_once('(') {
        let values = values.strip_suffix(')').ok_or(SelectorProblem::AfterValues)?;
        let mut words = head.split_whitespace();
        let (key, operator) = match (words.next(), words.next(), words.next()) {
            (Some(key), Some("in"), None) => (key, "In"),
            (Some(key), Some("notin"), None) => (key, "NotIn"),
            _ => return Err(SelectorProblem::Operator),
        };
        return with_values(key, operator, values.split(','));
    }
    if let Some(key) = text.strip_prefix('!') {
        return with_values(key, "DoesNotExist", []);
    }
    for (sign, operator) in [("!=", "NotIn"), ("==", "In"), ("=", "In"), (">", "Gt"), ("<", "Lt")] {
        if let Some((key, value)) = text.split_once(sign) {
            let requirement = with_values(key, operator, [value])?;
            return match value.trim().parse::<i64>() {
                Err(_) if matches!(operator, "Gt" | "Lt") => {
                    Err(SelectorProblem::Integer(value.trim().to_owned()))
                }
                _ => Ok(requirement),
            };
        }
    }
    with_values(text, "Exists", [])
}

fn with_values<'t>(
    key: &str,
    operator: &str,
    values: impl IntoIterator<Item = &'t str>,
) -> Result<Requirement, SelectorProblem> {
    let key = key.trim().to_owned();
    if !is_label_key(&key) {
        return Err(SelectorProblem::Key(key));
    }
    let value = |value: &str| match value.trim().to_owned() {
        value if is_label_value(&value) => Ok(value),
        value => Err(SelectorProblem::Value(value)),
    };
    let values = values.into_iter().map(value).collect::<Result<_, _>>()?;
    Ok(Requirement { key, operator: operator.to_owned(), values })
}
