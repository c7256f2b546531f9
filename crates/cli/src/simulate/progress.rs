//! The bar of a run on stderr; indicatif hides it where that is no terminal.

use daemonset_sim::Cluster;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;

/// The bar of one run: nodes that run the new version.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// Reconciles at the last look: between them nothing new is to be shown.
    seen: Cell<u64>,
}

impl Bar {
    pub(crate) fn begin(label: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let template = "{bar:40} {pos}/{len} nodes updated, {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(label.to_owned());
        Bar { bar, seen: Cell::new(0) }
    }

    pub(crate) fn show(&self, cluster: &Cluster) {
        if self.seen.replace(cluster.reconciles()) == cluster.reconciles() {
            return;
        }
        let status = cluster.status();
        let number = |nodes: i32| u64::from(nodes.max(0).unsigned_abs());
        self.bar.set_length(number(status.desired_number_scheduled));
        self.bar.set_position(number(status.updated_number_scheduled));
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
