//! A scrape of the running program, and the alerts and panels of deploy/monitoring, which ask for its metrics.

use crate::api::Api;
use crate::program;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

/// The head and the body of `/metrics`; `None` while nothing listens.
pub fn scrape(port: u16, accept: &str) -> Option<(String, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let request =
        format!("GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: {accept}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    Some((head.to_owned(), body.to_owned()))
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The help and the type of each family.
fn families(text: &str) -> BTreeMap<&str, (&str, &str)> {
    let described = |prefix: &'static str| {
        text.lines().filter_map(move |line| line.strip_prefix(prefix)?.split_once(' '))
    };
    let types: BTreeMap<_, _> = described("# TYPE ").collect();
    described("# HELP ").map(|(name, help)| (name, (help, types[name]))).collect()
}

/// The names of metrics in an alert or a panel.
fn asked_for(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("daemonset_") || word.starts_with("process_")).collect()
}

/// Metrics of a policy's parts, which this DaemonSet has not: tests/faults compares their text.
const OF_POLICIES: [&str; 4] = [
    "daemonset_rollout_stage",
    "daemonset_rollout_wave_available",
    "daemonset_rollout_wave_nodes",
    "daemonset_turn_nodes",
];

/// `METRICS_SCRAPE` names a file for the scrape, which promtool then checks.
#[test]
fn a_scrape_describes_each_metric_that_alerts_and_panels_ask_for() {
    let api = Api::start();
    api.add_nodes(3);
    api.answer(100);
    let port = free_port();
    let mut command = program(&[&format!("--listen=127.0.0.1:{port}")]);
    let mut child = command.env("KUBECONFIG", api.kubeconfig("scrape")).spawn().unwrap();
    let is_planned = "daemonset_desired_nodes{namespace=\"ns\",daemonset=\"agent\"} 3";
    let has_called = "daemonset_calls_total{";
    let plain = "text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    let mut scraped = None;
    for _ in 0..600 {
        std::thread::sleep(Duration::from_millis(100));
        scraped = scrape(port, plain);
        // A plan is shown before its first call is answered and counted.
        let is_shown =
            |(_, text): &(String, String)| [is_planned, has_called].iter().all(|line| text.contains(line));
        if scraped.as_ref().is_some_and(is_shown) {
            break;
        }
    }
    let (head, text) = scraped.expect("a scrape");
    assert!(text.contains(is_planned), "{text}");
    let prometheus =
        "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
    let (open_head, open_text) = scrape(port, prometheus).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();

    assert!(head.contains("content-type: text/plain; version=0.0.4"), "{head}");
    assert!(open_head.contains("content-type: application/openmetrics-text"), "{open_head}");
    assert!(open_text.ends_with("# EOF\n") && !text.contains("# EOF"));
    let families = families(&text);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let of_histogram = ["_bucket", "_count", "_sum"].iter().find_map(|part| name.strip_suffix(part));
        let (help, kind) = families.get(name).or_else(|| families.get(of_histogram?)).unwrap();
        assert!(!help.is_empty() && *kind != "untyped", "{line}");
    }
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/monitoring");
    for file in ["prometheus-rule.yaml", "dashboard.json"] {
        let asked = std::fs::read_to_string(deploy.join(file)).unwrap();
        let asked = asked_for(&asked);
        assert!(asked.len() > 4, "{asked:?}");
        for name in asked {
            let of_histogram = name.strip_suffix("_bucket").unwrap_or(name);
            let is_known = families.contains_key(of_histogram) || OF_POLICIES.contains(&name);
            assert!(is_known, "{file} asks for {name}");
        }
    }
    if let Some(path) = std::env::var_os("METRICS_SCRAPE") {
        std::fs::write(path, text).unwrap();
    }
}
