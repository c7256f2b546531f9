//! The facts about a node that placement reads, of which some may not be known yet.
//!
//! The planner knows all of them. A node that does not exist yet has a template's labels, and the rest comes later. The
//! rules are written once for both, in three-valued logic: an answer is certain when it is the same whatever the unknown
//! facts turn out to be.

use crate::view::NodeView;
use crate::view::scheduling::TaintView;

/// A statement about a node: false, not known, or true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    No,
    Maybe,
    Yes,
}

impl Truth {
    /// Whether all of the statements hold; yes where there is none.
    #[inline]
    pub fn all(statements: impl IntoIterator<Item = Truth>) -> Truth {
        let mut all = Truth::Yes;
        for statement in statements {
            match statement {
                Truth::No => return Truth::No,
                Truth::Maybe => all = Truth::Maybe,
                Truth::Yes => {}
            }
        }
        all
    }

    /// Whether one of the statements holds; no where there is none.
    #[inline]
    pub fn any(statements: impl IntoIterator<Item = Truth>) -> Truth {
        let mut any = Truth::No;
        for statement in statements {
            match statement {
                Truth::No => {}
                Truth::Maybe => any = Truth::Maybe,
                Truth::Yes => return Truth::Yes,
            }
        }
        any
    }
}

impl From<bool> for Truth {
    #[inline]
    fn from(holds: bool) -> Self {
        if holds { Truth::Yes } else { Truth::No }
    }
}

/// The value of a label, or the name of the node, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub enum Known<'a> {
    /// It has this value.
    Value(&'a str),
    /// There is no such label.
    Absent,
    /// It has one of these values.
    OneOf(&'a [String]),
    /// It has a value that is not known.
    Present,
    /// Not even its presence is known.
    Unknown,
}

impl<'a> Known<'a> {
    /// Whether the value meets a condition; `presence` is the answer if any value gives the same one.
    #[inline]
    pub(crate) fn meets(
        self,
        condition: impl Fn(Option<&'a str>) -> bool,
        presence: impl FnOnce() -> Option<bool>,
    ) -> Truth {
        match self {
            Known::Value(value) => condition(Some(value)).into(),
            Known::Absent => condition(None).into(),
            Known::OneOf(values) if !values.is_empty() => {
                let met = values.iter().filter(|value| condition(Some(value))).count();
                match met {
                    0 => Truth::No,
                    all if all == values.len() => Truth::Yes,
                    _ => Truth::Maybe,
                }
            }
            Known::OneOf(_) | Known::Present => presence().map_or(Truth::Maybe, Truth::from),
            Known::Unknown => Truth::Maybe,
        }
    }

    /// Whether it is this value.
    #[inline]
    pub fn is(self, value: &str) -> Truth {
        self.meets(|known| known == Some(value), || None)
    }
}

/// The facts about a node that placement reads.
pub trait NodeFacts {
    /// The name of the node.
    fn name(&self) -> Known<'_>;

    /// The value of one of its labels.
    fn label(&self, key: &str) -> Known<'_>;

    /// The taints that it surely has.
    fn taints(&self) -> impl Iterator<Item = TaintView<'_>>;

    /// The taints that it may have as well.
    fn possible_taints(&self) -> impl Iterator<Item = TaintView<'_>>;
}

/// Everything about a node of the snapshot is known.
#[doc(hidden)]
impl NodeFacts for NodeView<'_> {
    #[inline]
    fn name(&self) -> Known<'_> {
        Known::Value(self.name)
    }

    #[inline]
    fn label(&self, key: &str) -> Known<'_> {
        self.labels.get(key).map_or(Known::Absent, Known::Value)
    }

    #[inline]
    fn taints(&self) -> impl Iterator<Item = TaintView<'_>> {
        self.taints.iter()
    }

    #[inline]
    fn possible_taints(&self) -> impl Iterator<Item = TaintView<'_>> {
        std::iter::empty()
    }
}
