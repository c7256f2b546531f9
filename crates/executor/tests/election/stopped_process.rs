//! A leader that is stopped for longer than its renew deadline (SIGSTOP, a frozen machine) and then continues: it acts no more, even
//! before its timers fire.

use crate::fault::Fault;
use crate::machine::Machine;
use crate::server::{LeaseServer, election};
use daemonset_executor::lease::{FencedConnector, RenewDeadline};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::io::ErrorKind;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

const DEADLINE: Duration = Duration::from_secs(10);
const LONGER: Duration = Duration::from_secs(12);
const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test(start_paused = true)]
async fn each_renewal_moves_the_deadline() {
    let api = LeaseServer::default();
    let election = crate::server::election(&Machine::default());
    let deadline = election.deadline();
    assert!(deadline.check().is_err(), "it does not lead yet");
    let mut leadership = election.acquire(api.client(0)).await.expect("no panic");
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
    let election = crate::server::election(&Machine::default());
    let deadline = election.deadline();
    let leadership = election.acquire(api.client(0)).await.expect("no panic");
    leadership.release().await.expect("it answers");
    assert!(deadline.check().is_err(), "it was given back");

    let api = LeaseServer::default();
    let election = crate::server::election(&Machine::default());
    let deadline = election.deadline();
    let mut leadership = election.acquire(api.client(0)).await.expect("no panic");
    api.change(|lease| lease["spec"]["holderIdentity"] = "another".into());
    leadership.lost().await;
    assert!(deadline.check().is_err(), "another process holds it");
}

/// tokio's clock stands still while a machine sleeps: only the clock of the machine shows that the lease is over.
#[tokio::test(start_paused = true)]
async fn a_leader_that_was_stopped_does_not_renew_its_lease() {
    let (api, machine) = (LeaseServer::default(), Machine::default());
    let mut leadership = election(&machine).acquire(api.client(0)).await.expect("no panic");
    assert!(timeout(Duration::from_secs(60), leadership.lost()).await.is_err());
    let renewals = api.state().stored.len();
    machine.stop_process(LONGER);
    let reason = timeout(Duration::from_secs(3), leadership.lost()).await.expect("it notices");
    assert_eq!(reason.to_string(), "not renewed in time: no response, or this process stood still");
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
