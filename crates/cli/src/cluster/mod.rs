//! Where the objects come from: kubectl as a child process, a file, stdin, or the example that is built in.

mod args;
mod choosing;
mod connection;
mod documents;
mod events;
mod follow;
mod input;
mod json_list;
mod kubectl;
mod missing;
mod notes;
mod object;
mod objects;
mod places;
pub(crate) mod policy;
mod reading;
pub(crate) mod selector;
mod source;
mod wanted;

pub(crate) use args::{ClusterArgs, Files, Target, TargetArgs, is_file};
pub(crate) use connection::Connection;
pub(crate) use documents::{read as read_documents, read_policy};
pub(crate) use follow::Follow;
pub(crate) use input::{Choice, Clock, Form, Input, Read};
pub(crate) use kubectl::{Kubectl, Needs, Scope};
pub(crate) use notes::{ContainerNotes, Ended, Said};
pub(crate) use object::{full_name, name, namespace};
pub(crate) use objects::{Chosen, Models, Objects};
pub(crate) use source::{Example, MIDROLLOUT, STEADY, Source};
pub(crate) use wanted::Wanted;
