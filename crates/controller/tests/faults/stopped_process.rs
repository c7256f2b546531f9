//! Stories about a leader that is stopped for longer than its renew deadline (SIGSTOP, a frozen machine) and then continues: it
//! acts no more, even before its timers fire.

use crate::cluster::{Cluster, HOUR, Machine};
use crate::faults::{Fault, Verb};
use crate::lease_server::LeaseServer;
use crate::objects::rolling;
use crate::store::Kind;
use daemonset_controller::fenced_stream::FencedConnector;
use daemonset_controller::leader_election::{Leadership, Standby};
use daemonset_controller::renew_deadline::RenewDeadline;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::io::ErrorKind;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

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

#[tokio::test(start_paused = true)]
async fn each_renewal_moves_the_deadline() {
    let api = LeaseServer::default();
    let lock = api.lock(0);
    let deadline = lock.deadline.clone();
    assert!(deadline.check().is_err(), "it does not lead yet");
    let mut leadership = Leadership::acquire(lock, &Standby::default()).await.expect("no panic");
    for _ in 0..60 {
        assert!(timeout(Duration::from_secs(1), leadership.lost()).await.is_err());
        assert!(deadline.check().is_ok());
    }
    api.state().faults.insert(0, Fault::Silent);
    assert!(timeout(DEADLINE - Duration::from_secs(3), leadership.lost()).await.is_err());
    assert!(deadline.check().is_ok(), "the last renewal still counts");
    sleep(Duration::from_secs(3)).await;
    assert!(deadline.check().is_err());

    let api = LeaseServer::default();
    let lock = api.lock(0);
    let deadline = lock.deadline.clone();
    let leadership = Leadership::acquire(lock, &Standby::default()).await.expect("no panic");
    leadership.release().await;
    assert!(deadline.check().is_err(), "it was given back");

    let api = LeaseServer::default();
    let lock = api.lock(0);
    let deadline = lock.deadline.clone();
    let mut leadership = Leadership::acquire(lock, &Standby::default()).await.expect("no panic");
    api.change(|lease| lease["spec"]["holderIdentity"] = "another".into());
    leadership.lost().await;
    assert!(deadline.check().is_err(), "another process holds it");
}

/// tokio's clock stands still while a machine sleeps: only the clock of the machine shows that the lease is over.
#[tokio::test(start_paused = true)]
async fn a_leader_that_was_stopped_does_not_renew_its_lease() {
    let (api, machine) = (LeaseServer::default(), Machine::default());
    let mut leadership =
        Leadership::acquire(api.lock_on(0, &machine), &Standby::default()).await.expect("no panic");
    assert!(timeout(Duration::from_secs(60), leadership.lost()).await.is_err());
    let renewals = api.state().stored.len();
    machine.stop_process(LONGER);
    let reason = timeout(Duration::from_secs(3), leadership.lost()).await.expect("it notices");
    assert_eq!(reason, "not renewed in time: no response");
    assert_eq!(api.state().stored.len(), renewals);
}

/// A request waits in the client, for a connection say, while the process is stopped: its bytes never reach the kernel.
#[tokio::test]
async fn a_connection_writes_nothing_after_the_deadline() {
    for is_over in [false, true] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let deadline = RenewDeadline::new(Machine::default().clock());
        if !is_over {
            deadline.renewed(deadline.now(), HOUR);
        }
        let connector = FencedConnector::new(HttpConnector::new(), deadline);
        let client = hyper_util::client::legacy::Client::builder(TokioExecutor::new())
            .build::<_, kube::client::Body>(connector);
        let request = http::Request::get(format!("http://{address}/")).body(kube::client::Body::empty());
        let sent = tokio::spawn(client.request(request.expect("a request")));
        let (stream, _) = listener.accept().await.expect("a connection");
        if is_over {
            let sent = timeout(Duration::from_secs(5), sent).await.expect("it is refused");
            assert!(sent.expect("no panic").is_err());
        }
        let read = loop {
            stream.readable().await.expect("the end, or bytes");
            match stream.try_read(&mut [0; 16]) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => break read.unwrap_or(0),
            }
        };
        assert_eq!(read > 0, !is_over);
    }
}
