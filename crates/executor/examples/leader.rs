//! Prints a line each second while it leads. Start it twice, and stop the leader with Ctrl-Z for longer than ten seconds: when it goes
//! on, it sends nothing more.
//!
//! ```console
//! $ cargo run -p daemonset-executor --features lease --example leader -- default
//! ```
#![allow(clippy::restriction)]

use daemonset_executor::lease::{Election, LeaseConfig, LeaseEvent, RenewDeadline, fenced_client};
use kube::{Client, Config};
use std::time::Duration;
use tokio::time::sleep;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let namespace = std::env::args().nth(1).unwrap_or("default".to_owned());
    let config = Config::infer().await?;
    let lease = LeaseConfig::new(namespace, "daemonset-lease-example");
    println!("{} wants {lease}", lease.holder());
    let election = Election::new(lease).on_event(|event| match event {
        LeaseEvent::HeldByOther { holder } => println!("held by {holder}"),
        LeaseEvent::NotAcquired { error } | LeaseEvent::NotRenewed { error } => println!("failed: {error}"),
        _ => {}
    });
    let deadline = election.deadline();
    let writes = fenced_client(&config, &deadline)?;
    let mut leadership = election.acquire_on_thread(move || Client::try_from(config)).await?;
    tokio::select! {
        result = work(writes, &deadline) => println!("ends: {result:?}"),
        lost = leadership.lost() => println!("lost: {lost}"),
        _ = tokio::signal::ctrl_c() => leadership.release().await?,
    }
    Ok(())
}

/// Works for as long as this process may act.
async fn work(client: Client, deadline: &RenewDeadline) -> anyhow::Result<()> {
    loop {
        deadline.check()?;
        // In the place of a write: it does not get through after the deadline, either.
        println!("leads: the API server is {}", client.apiserver_version().await?.git_version);
        sleep(Duration::from_secs(1)).await;
    }
}
