//! An hour of random faults in which two processes compete for a lease: they never lead at the same time.

use crate::fault::Fault;
use crate::server::LeaseServer;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

#[derive(Default)]
struct History {
    leaders: BTreeSet<usize>,
    /// Processes that are between two runs, and start without knowledge of the lease.
    ended: BTreeSet<usize>,
    terms: [u32; 2],
    lost: u32,
    released: u32,
    died: u32,
    deleted: u32,
}

type SharedHistory = Arc<Mutex<History>>;

/// Leads whenever it can, and restarts when it no longer can.
async fn process(api: LeaseServer, client: usize, mut rng: fastrand::Rng, history: SharedHistory) {
    let record = || history.lock().expect("a panic ends the test");
    loop {
        api.state().has_read.remove(&client);
        record().ended.remove(&client);
        let mut leadership = api.leader(client).await;
        {
            let mut history = record();
            history.leaders.insert(client);
            history.terms[client] += 1;
            assert_eq!(history.leaders.len(), 1, "both lead");
        }
        let ends = Duration::from_secs(rng.u64(5..300));
        let is_lost = tokio::select! { _ = leadership.lost() => true, () = sleep(ends) => false };
        record().leaders.remove(&client);
        record().ended.insert(client);
        if is_lost {
            record().lost += 1;
        } else if rng.bool() {
            record().released += 1;
            // It ends before the deadline, whatever the answers are.
            let _ = leadership.release().await;
        } else {
            record().died += 1;
            drop(leadership);
        }
        sleep(Duration::from_millis(rng.u64(..5000))).await;
    }
}

async fn an_hour(seed: u64) -> (History, BTreeSet<Fault>) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let (api, history) = (LeaseServer::default(), SharedHistory::default());
    api.state().random = Some(rng.fork());
    let mut processes = tokio::task::JoinSet::new();
    for client in 0..2 {
        processes.spawn(process(api.clone(), client, rng.fork(), history.clone()));
    }
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(3600) {
        sleep(Duration::from_millis(rng.u64(..20_000))).await;
        if let Some(ended) = processes.try_join_next() {
            assert!(ended.is_ok(), "seed {seed}: {ended:?}");
        }
        match rng.u32(..4) {
            0 => {
                let (client, fault) = (rng.usize(..2), rng.choice(Fault::ALL.iter()).copied());
                api.state().faults.extend(fault.map(|fault| (client, fault)));
                sleep(Duration::from_millis(rng.u64(1000..40_000))).await;
                api.state().faults.clear();
            }
            // A process that has not read the lease since it was created can't know its holder.
            1 if api.state().has_read.len() == 2 => {
                let mut history = history.lock().expect("no panic");
                if history.ended.is_empty() {
                    api.state().lease = None;
                    history.deleted += 1;
                }
            }
            2 => api.change(|lease| lease["metadata"]["labels"] = json!({"at": rng.u64(..).to_string()})),
            _ => {}
        }
    }
    processes.abort_all();
    let history = std::mem::take(&mut *history.lock().expect("no panic"));
    let happened = std::mem::take(&mut api.state().happened);
    (history, happened)
}

#[tokio::test(start_paused = true)]
async fn two_processes_never_lead_at_the_same_time() {
    let seeds = std::env::var("FAULTS_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(5);
    for seed in 0..seeds {
        let (history, happened) = an_hour(seed).await;
        let History { terms, lost, released, died, deleted, .. } = history;
        println!("{seed}: terms {terms:?}, lost {lost}, released {released}, died {died}, deleted {deleted}");
        assert!(terms[0] > 3 && terms[1] > 3, "each led several times: {terms:?}");
        assert!(lost > 0 && released > 0 && died > 0 && deleted > 5);
        assert_eq!(happened.len(), Fault::ALL.len());
    }
}
