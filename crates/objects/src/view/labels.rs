//! Borrowed labels of an object, in the caller's form.

use crate::model::Labels;
#[cfg(feature = "k8s-openapi")]
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Borrowed labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelsView<'a> {
    /// Of the model.
    Packed(&'a Labels),
    /// Of k8s-openapi's types.
    #[cfg(feature = "k8s-openapi")]
    Map(&'a BTreeMap<String, String>),
}

impl<'a> LabelsView<'a> {
    /// No labels.
    pub fn none() -> Self {
        static NONE: LazyLock<Labels> = LazyLock::new(Labels::default);
        LabelsView::Packed(&NONE)
    }

    /// Whether these are the same ones.
    #[inline]
    pub fn are(self, others: &Labels) -> bool {
        match self {
            LabelsView::Packed(labels) => labels == others,
            #[cfg(feature = "k8s-openapi")]
            LabelsView::Map(_) => self.iter().eq(others.iter()),
        }
    }

    /// The value of a label.
    #[inline]
    pub fn get(self, key: &str) -> Option<&'a str> {
        match self {
            LabelsView::Packed(labels) => labels.get(key),
            #[cfg(feature = "k8s-openapi")]
            LabelsView::Map(labels) => labels.get(key).map(String::as_str),
        }
    }

    /// Each key with its value.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let packed = match self {
            LabelsView::Packed(labels) => Some(labels),
            #[cfg(feature = "k8s-openapi")]
            LabelsView::Map(_) => None,
        };
        let pairs = packed.into_iter().flat_map(Labels::iter);
        #[cfg(feature = "k8s-openapi")]
        let pairs =
            pairs.chain(self.map().into_iter().flatten().map(|(key, value)| (key.as_str(), value.as_str())));
        pairs
    }

    #[cfg(feature = "k8s-openapi")]
    fn map(self) -> Option<&'a BTreeMap<String, String>> {
        match self {
            LabelsView::Packed(_) => None,
            LabelsView::Map(labels) => Some(labels),
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(self) -> bool {
        match self {
            LabelsView::Packed(labels) => labels.is_empty(),
            #[cfg(feature = "k8s-openapi")]
            LabelsView::Map(labels) => labels.is_empty(),
        }
    }

    /// Whether there is such a label.
    #[inline]
    pub fn contains_key(self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The same labels, owned.
    pub fn to_labels(self) -> Labels {
        match self {
            LabelsView::Packed(labels) => labels.clone(),
            #[cfg(feature = "k8s-openapi")]
            LabelsView::Map(labels) => labels.iter().collect(),
        }
    }
}

#[doc(hidden)]
impl<'a> From<&'a Labels> for LabelsView<'a> {
    #[inline]
    fn from(labels: &'a Labels) -> Self {
        LabelsView::Packed(labels)
    }
}

#[cfg(feature = "k8s-openapi")]
impl<'a> From<&'a Option<BTreeMap<String, String>>> for LabelsView<'a> {
    #[inline]
    fn from(labels: &'a Option<BTreeMap<String, String>>) -> Self {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        LabelsView::Map(labels.as_ref().unwrap_or(&NONE))
    }
}
