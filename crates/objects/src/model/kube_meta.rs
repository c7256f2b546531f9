//! The metadata of an object in the form of `kube`.

use std::fmt;

/// The metadata that the feature `kube` lends by reference; without that feature it is empty and takes no memory.
///
/// It is made from the object's other metadata at the first use. It is not a part of the object: it is neither compared nor
/// serialized.
#[derive(Default)]
pub struct KubeMeta {
    #[cfg(feature = "kube")]
    made: std::sync::OnceLock<Box<kube_core::ObjectMeta>>,
    /// Set once it was lent for changes.
    #[cfg(feature = "kube")]
    changed: Option<Box<kube_core::ObjectMeta>>,
}

#[cfg(feature = "kube")]
impl KubeMeta {
    pub(crate) fn lend(&self, make: impl FnOnce() -> kube_core::ObjectMeta) -> &kube_core::ObjectMeta {
        match &self.changed {
            Some(changed) => changed,
            None => self.made.get_or_init(|| Box::new(make())),
        }
    }

    pub(crate) fn lend_mut(
        &mut self,
        make: impl FnOnce() -> kube_core::ObjectMeta,
    ) -> &mut kube_core::ObjectMeta {
        let KubeMeta { made, changed } = self;
        changed.get_or_insert_with(|| made.take().unwrap_or_else(|| Box::new(make())))
    }
}

/// A clone makes its own, since the metadata of the clone may be changed.
impl Clone for KubeMeta {
    fn clone(&self) -> Self {
        KubeMeta {
            #[cfg(feature = "kube")]
            made: std::sync::OnceLock::new(),
            #[cfg(feature = "kube")]
            changed: self.changed.clone(),
        }
    }
}

impl PartialEq for KubeMeta {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for KubeMeta {}

impl fmt::Debug for KubeMeta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KubeMeta")
    }
}
