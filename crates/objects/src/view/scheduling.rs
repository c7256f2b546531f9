//! Borrowed taints and tolerations, in the caller's form.

#[cfg(feature = "k8s-openapi")]
use crate::model::is_of_scheduling;
use crate::model::{Taint, Toleration};
#[cfg(feature = "k8s-openapi")]
use k8s_openapi::api::core::v1 as core;

/// A taint, borrowed.
#[derive(Debug, Clone, Copy)]
pub struct TaintView<'a> {
    pub key: &'a str,
    pub value: &'a str,
    pub effect: &'a str,
}

/// The taints of a node.
#[derive(Debug, Clone, Copy)]
pub enum TaintsView<'a> {
    /// Of the model.
    Model(&'a [Taint]),
    /// Of k8s-openapi's types.
    #[cfg(feature = "k8s-openapi")]
    Typed(&'a [core::Taint]),
}

impl<'a> TaintsView<'a> {
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = TaintView<'a>> + Clone {
        #[cfg(not(feature = "k8s-openapi"))]
        let TaintsView::Model(taints) = self;
        #[cfg(feature = "k8s-openapi")]
        let (taints, typed): (&[Taint], &[core::Taint]) = match self {
            TaintsView::Model(taints) => (taints, &[]),
            TaintsView::Typed(taints) => (&[], taints),
        };
        let views = taints.iter().map(TaintView::from);
        #[cfg(feature = "k8s-openapi")]
        let views = views.chain(typed.iter().map(TaintView::from));
        views
    }
}

#[doc(hidden)]
impl<'a> From<&'a Taint> for TaintView<'a> {
    #[inline]
    fn from(taint: &'a Taint) -> Self {
        TaintView { key: &taint.key, value: &taint.value, effect: &taint.effect }
    }
}

#[cfg(feature = "k8s-openapi")]
impl<'a> From<&'a core::Taint> for TaintView<'a> {
    #[inline]
    fn from(taint: &'a core::Taint) -> Self {
        let value = taint.value.as_deref().unwrap_or_default();
        TaintView { key: &taint.key, value, effect: &taint.effect }
    }
}

#[doc(hidden)]
impl From<TaintView<'_>> for Taint {
    fn from(view: TaintView<'_>) -> Self {
        Taint { key: view.key.to_owned(), value: view.value.to_owned(), effect: view.effect.to_owned() }
    }
}

/// A toleration, borrowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TolerationView<'a> {
    pub key: &'a str,
    pub(crate) operator: &'a str,
    pub value: &'a str,
    pub effect: &'a str,
}

/// The tolerations of a pod that can matter for a taint which an administrator set.
#[derive(Debug, Clone, Copy)]
pub enum TolerationsView<'a> {
    /// Of the model, which keeps only these.
    Model(&'a [Toleration]),
    /// Of k8s-openapi's types, which have other tolerations, too: these are skipped.
    #[cfg(feature = "k8s-openapi")]
    Typed(&'a [core::Toleration]),
}

impl<'a> TolerationsView<'a> {
    /// Whether these are the same ones.
    #[inline]
    pub fn are(self, others: &[Toleration]) -> bool {
        self.iter().eq(others.iter().map(TolerationView::from))
    }

    /// The same tolerations, owned.
    pub fn to_vec(self) -> Vec<Toleration> {
        self.iter().map(Toleration::from).collect()
    }

    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = TolerationView<'a>> {
        #[cfg(not(feature = "k8s-openapi"))]
        let TolerationsView::Model(own) = self;
        #[cfg(feature = "k8s-openapi")]
        let (own, typed): (&[Toleration], &[core::Toleration]) = match self {
            TolerationsView::Model(own) => (own, &[]),
            TolerationsView::Typed(own) => (&[], own),
        };
        let views = own.iter().map(TolerationView::from);
        #[cfg(feature = "k8s-openapi")]
        let views = {
            let typed = typed.iter().map(TolerationView::from);
            views.chain(typed.filter(|own| is_of_scheduling(own.key, own.effect)))
        };
        views
    }
}

impl<'a> From<&'a Toleration> for TolerationView<'a> {
    #[inline]
    fn from(own: &'a Toleration) -> Self {
        TolerationView { key: &own.key, operator: &own.operator, value: &own.value, effect: &own.effect }
    }
}

#[cfg(feature = "k8s-openapi")]
impl<'a> From<&'a core::Toleration> for TolerationView<'a> {
    #[inline]
    fn from(own: &'a core::Toleration) -> Self {
        let text = |text: &'a Option<String>| text.as_deref().unwrap_or_default();
        TolerationView {
            key: text(&own.key),
            operator: text(&own.operator),
            value: text(&own.value),
            effect: text(&own.effect),
        }
    }
}

impl From<TolerationView<'_>> for Toleration {
    fn from(view: TolerationView<'_>) -> Self {
        Toleration {
            key: view.key.to_owned(),
            operator: view.operator.to_owned(),
            value: view.value.to_owned(),
            effect: view.effect.to_owned(),
        }
    }
}
