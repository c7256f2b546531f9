//! A whole plan as JSON, with its name and time.

use crate::cluster::Input;
use daemonset::Plan;
use jiff::Timestamp;
use serde::Serialize;

/// A plan, and the decision that it is.
#[derive(Serialize)]
pub(crate) struct Named<'a> {
    pub(crate) name: &'a str,
    pub(crate) now: Timestamp,
    #[serde(flatten)]
    pub(crate) plan: &'a Plan,
}

impl<'a> Named<'a> {
    pub(crate) fn new(input: &'a Input, plan: &'a Plan) -> Self {
        Named { name: &input.recording.name, now: input.recording.now, plan }
    }
}
