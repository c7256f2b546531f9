//! Pictures to look at: `cargo test --features sim --example simulate -- --ignored` writes them, and says where.

use crate::fake::{Fake, run};
use crate::{compare, html, svg};
use std::fs;

fn fakes() -> Vec<(&'static str, Fake)> {
    let fake = Fake::default;
    vec![
        ("rolling-60", fake()),
        ("surge-60", Fake { max_surge: 10, max_unavailable: 0, length: 400, ..fake() }),
        ("rolling-500", Fake { nodes: 500, max_unavailable: 50, length: 500, ..fake() }),
        ("rolling-150", Fake { nodes: 150, max_unavailable: 15, length: 500, ..fake() }),
        ("rolling-3", Fake { nodes: 3, max_unavailable: 1, length: 150, ..fake() }),
        ("broken-30", Fake { nodes: 30, max_unavailable: 3, broken: Some(1), length: 900, ..fake() }),
        (
            "crash-20",
            Fake { nodes: 20, max_unavailable: 2, crash_at: Some(100), node_down_at: Some(60), ..fake() },
        ),
        ("three-40", Fake { nodes: 40, max_unavailable: 5, changes: vec![20, 80, 160], ..fake() }),
        ("rolling-10000", Fake { nodes: 10_000, max_unavailable: 1000, length: 800, ..fake() }),
    ]
}

#[test]
#[ignore = "writes files"]
fn draws_pictures_to_look_at() {
    let folder = std::env::temp_dir().join("daemonset-pictures");
    fs::create_dir_all(&folder).unwrap();
    for (name, fake) in fakes() {
        let events = fake.events();
        let run = run("monitoring/node-exporter", &events, fake.length);
        fs::write(folder.join(format!("{name}.svg")), svg::timeline(&run)).unwrap();
        fs::write(folder.join(format!("{name}.html")), html::page(&run)).unwrap();
    }
    let settings = [
        ("maxUnavailable 1", 1, 0),
        ("maxUnavailable 10%", 6, 0),
        ("maxUnavailable 30%", 18, 0),
        ("maxSurge 10%", 0, 6),
    ];
    let fakes = settings.map(|(label, max_unavailable, max_surge)| {
        let fake = Fake { max_unavailable, max_surge, length: 2400, ..Fake::default() };
        (label, fake.events())
    });
    let runs: Vec<_> = fakes.iter().map(|(label, events)| run(label, events, 2400)).collect();
    fs::write(folder.join("compare.svg"), compare::svg(&runs)).unwrap();
    fs::write(folder.join("compare.html"), html::comparison(&runs)).unwrap();
    println!("{}", compare::table(&runs));
    println!("{}", folder.display());
}
