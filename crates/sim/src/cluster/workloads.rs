//! Workloads that a user adds.

use super::Cluster;
use crate::workload::{ReplicaSet, Workload};

impl Cluster {
    /// Adds a workload of somebody else, whose replicas spread over the schedulable nodes and are Ready at once.
    pub fn add_workload(&mut self, workload: Workload) {
        self.on_environment(|environment| {
            let uid = environment.new_uid();
            let number = environment.workloads.len();
            environment.workloads.push(ReplicaSet { workload, uid, made: 0 });
            environment.replicate(number);
            for uid in environment.replicas(number) {
                // It has run for a while.
                if let Some(runtime) = environment.runtimes.get_mut(&uid) {
                    runtime.epoch += 1;
                    runtime.started = true;
                }
                environment.change_pod(&uid, |pod| pod.status.phase = "Running".into());
                environment.set_ready(&uid, true);
            }
        });
    }
}
