//! The memory of a pod in a reflector: as the model's type, whole and lean as the controller
//! keeps it, and as k8s-openapi's type. The number of bytes is the same on every run; a lean pod above the limit fails.
//!
//! `cargo bench -p daemonset-benches --features kube --bench held`

use daemonset::model;
use k8s_openapi::api::core::v1;
use kube_core::Resource;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// The maximum number of bytes for a lean pod of the model.
const LIMIT: usize = 1_400;
const PODS: usize = 1_000;

fn main() -> ExitCode {
    let dump: Value =
        serde_json::from_str(include_str!("../tests/data/dumps/steady.json")).unwrap_or_default();
    let items = dump["items"].as_array().cloned().unwrap_or_default();
    let Some(pod) = items.into_iter().find(|item| item["kind"] == "Pod") else { return ExitCode::FAILURE };
    let large = weighty(pod.clone());
    let is_lean =
        [("a fake kubelet", &pod), ("six volumes and ten containers", &large)].map(|(kind, pod)| {
            let lean = held(pod, model::Pod::make_lean);
            let whole = held(pod, |_: &mut model::Pod| {});
            let typed = held(pod, |_: &mut v1::Pod| {});
            println!("a pod of {kind} in a reflector: {lean} bytes lean, {whole} whole, {typed} typed");
            lean <= LIMIT
        });
    if is_lean == [true; 2] { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Bytes on the heap per object, as a reflector keeps it: it reads the metadata of an object, and stores a clone.
fn held<K: Resource<DynamicType = ()> + DeserializeOwned + Clone>(pod: &Value, change: fn(&mut K)) -> usize {
    let texts: Vec<String> = (0..PODS).map(|number| text(pod, number)).collect();
    let _profiler = dhat::Profiler::builder().testing().build();
    let read = |text: &String| {
        let mut pod = serde_json::from_str(text).ok()?;
        change(&mut pod);
        pod.meta().name.as_ref()?;
        Some(Arc::new(pod.clone()))
    };
    let pods: Vec<Arc<K>> = texts.iter().filter_map(read).collect();
    let held = dhat::HeapStats::get().curr_bytes;
    assert_eq!(pods.len(), PODS);
    held / PODS
}

fn text(pod: &Value, number: usize) -> String {
    let mut pod = pod.clone();
    pod["metadata"]["name"] = json!(format!("node-exporter-{number:05}"));
    pod.to_string()
}

/// A realistic pod, such as one of a service mesh.
fn weighty(mut pod: Value) -> Value {
    let container = pod["spec"]["containers"][0].clone();
    let status = pod["status"]["containerStatuses"][0].clone();
    let many = |value: &Value, count: usize| -> Value { (0..count).map(|_| value.clone()).collect() };
    pod["spec"]["containers"] = many(&container, 10);
    pod["status"]["containerStatuses"] = many(&status, 10);
    pod["spec"]["volumes"] = many(&pod["spec"]["volumes"][0].clone(), 6);
    pod
}
