//! Room for what `kube` asks of an object's metadata.

use std::fmt;

/// The metadata that the feature `kube` lends out by reference; without that feature nothing, and no room is taken.
///
/// It is made from the object's other metadata when it is first asked for, and is no part of what the object says:
/// neither compared nor written down.
#[derive(Default)]
pub struct KubeMeta {
    #[cfg(feature = "kube")]
    made: std::sync::OnceLock<Box<kube_core::ObjectMeta>>,
    /// Once it was lent out to be changed.
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

/// A clone makes its own, since what it is made from may be changed there.
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
