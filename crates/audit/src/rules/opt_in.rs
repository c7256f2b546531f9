//! The opt-in rules by which a Ready pod stays, found apart from the planner.

use super::{fit, pulls};
use crate::fleet::context::Context;
use crate::kind::ViolationKind;
use daemonset::internal::NodeIx;
use daemonset::policy::Rule;

/// The first rule by which the Ready pod of a node stays, or its turn does not begin. `asks_for_room`: this is not the turn's own question.
pub(crate) fn waits(
    context: &Context<'_>,
    node: NodeIx,
    asks_for_room: impl Fn() -> bool,
) -> Option<ViolationKind> {
    let policy = &context.snapshot.spec().policy;
    let mut on = Rule::ALL.iter().filter(|rule| rule.is_on(policy));
    on.find_map(|rule| match rule {
        Rule::Pull => pulls::waits(context, node),
        Rule::Fit => fit::waits(context, node).filter(|_| asks_for_room()),
        // They keep no Ready pod, or `turns` looks for it.
        Rule::PodNames
        | Rule::DownNodes
        | Rule::Lifecycle
        | Rule::Turn
        | Rule::Drain
        | Rule::InPlace
        | Rule::Priority => None,
    })
}
