//! Stories about a leader that is stopped for longer than its renew deadline (SIGSTOP, a frozen machine) and then continues: it
//! acts no more, even before its timers fire.

use crate::cluster::{Cluster, HOUR};
use crate::faults::Verb;
use crate::objects::rolling;
use crate::store::Kind;
use std::time::Duration;
use tokio::time::sleep;

const DEADLINE: Duration = Duration::from_secs(10);
const LONGER: Duration = Duration::from_secs(12);

#[tokio::test(start_paused = true)]
async fn a_leader_that_was_stopped_sends_nothing_more() {
    // At each point of a rollout, some other call comes next: a create, a delete, a status, an event, a read.
    for moment in (0..1200).step_by(120) {
        let cluster = Cluster::steady(8, rolling(2)).await;
        cluster.deadline.end();
        cluster.deadline.renewed(cluster.deadline.now(), DEADLINE);
        cluster.release("agent:v2");
        sleep(Duration::from_millis(moment)).await;
        cluster.machine.stop_process(LONGER);
        let (calls, plans) = (cluster.count(is_of_a_plan), plans(&cluster));
        sleep(Duration::from_secs(60)).await;
        assert_eq!(self::plans(&cluster), plans, "no plan either");
        assert_eq!(cluster.count(is_of_a_plan), calls, "stopped after {moment} ms");
        // With a new lease it goes on.
        cluster.deadline.renewed(cluster.deadline.now(), HOUR);
        cluster.done(HOUR).await;
    }
}

/// The number of plans so far.
fn plans(cluster: &Cluster) -> String {
    let text = cluster.metrics.text();
    let line = text.lines().find(|line| line.starts_with("daemonset_decide_seconds_count"));
    line.expect("it is counted").to_owned()
}

/// Watches go on: they change nothing.
fn is_of_a_plan(verb: Verb, kind: Kind) -> bool {
    verb.writes() || verb == Verb::Get || (verb == Verb::List && kind == Kind::Revision)
}

/// The responses to the last calls of the leader lead to no further call.
#[tokio::test(start_paused = true)]
async fn a_plan_under_way_ends_at_the_deadline() {
    let cluster = Cluster::steady(60, rolling(1)).await;
    cluster.deadline.end();
    cluster.deadline.renewed(cluster.deadline.now(), DEADLINE);
    cluster.allow_down(60);
    for pod in cluster.pods_of_agent() {
        let own = crate::store::id(Kind::Pod, crate::store::text(&pod["metadata"]["name"]));
        cluster.api.state().store.remove(crate::store::Actor::Others, &own);
    }
    let creates = |verb, kind| verb == Verb::Create && kind == Kind::Pod;
    while cluster.count(creates) == 0 {
        sleep(Duration::from_micros(100)).await;
    }
    cluster.machine.stop_process(LONGER);
    let sent = cluster.count(creates);
    assert!(sent < 60, "{sent}: the plan is under way");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(cluster.count(creates), sent);
}
