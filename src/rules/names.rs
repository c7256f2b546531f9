//! The names of pods where each node has one.

use crate::input::spec::Spec;
use daemonset_objects::internal::{cut_name, name_hash};

/// A name has 63 characters, as one that the API server generates: these, a dash, and the ten letters of the hash.
pub(crate) const LONGEST_PREFIX: usize = 52;

/// The name of each pod of the DaemonSet on a node, whatever its revision.
pub fn one_per_node(spec: &Spec<'_>, node: &str) -> String {
    let ds = &spec.daemon_set.metadata;
    let name = format!("{}-{}", cut_name(&ds.name, LONGEST_PREFIX), name_hash([ds.uid.as_str(), node]));
    planted::name(name, spec.raw_template())
}

/// The deliberate errors in this file.
mod planted {
    #[cfg(daemonset_mutants)]
    use daemonset_objects::internal::name_hash;
    use serde_json::Value;

    crate::planted::planted! {
        name(right: String, template: &Value): NameByTemplate => format!("{right}-{}", name_hash([template.to_string().as_str()]));
    }
}
