//! The objects of a cluster, out of Lists, Recordings and manifests in JSON or YAML.

mod choosing;
mod documents;
mod events;
mod happened;
mod input;
mod json_list;
mod lines;
mod missing;
mod notes;
mod object;
mod objects;
mod places;
pub mod policy;
mod reading;
mod wanted;

pub use documents::{read as read_documents, read_policy};
pub use events::KubectlEvent;
pub use happened::{ClusterEvents, Happened};
pub use input::{Choice, Input, InputForm, Read, TimeSource};
pub(crate) use json_list::items_of;
pub use lines::Lines;
pub use notes::{
    AGAIN_AND_AGAIN, CRASH_LOOP, ClusterNotes, ContainerNotes, Ended, Failed, Gate, NodeNotes, PodNotes,
    Running, Said,
};
pub use object::{full_name, name, namespace, uid};
pub(crate) use object::{is_read_by_plans, read};
pub use objects::{Chosen, Models, NamespacePowers, Objects};
pub use wanted::Wanted;
