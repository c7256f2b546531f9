//! Where the objects come from: kubectl as a child process, a file, stdin, or the example that is built in.

mod args;
mod connection;
mod follow;
mod kubectl;
mod source;

pub(crate) use args::{ClusterArgs, Files, Target, TargetArgs, is_file};
pub(crate) use connection::ConnectionArgs;
pub(crate) use daemonset_view::cluster::{
    Choice, Chosen, Input, InputForm, KubectlEvent, Models, Objects, Read, Wanted, full_name, name,
    namespace, policy, read_documents, read_policy,
};
pub(crate) use follow::Follow;
pub(crate) use kubectl::{Kubectl, Needs, Scope};
pub(crate) use source::{Example, MIDROLLOUT, STEADY, Source};
