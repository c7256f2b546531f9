//! Probes, each in one line.

use super::{container, labelled};
use serde_json::{Value, json};

fn handled(handler: Value) -> String {
    let printed = container(json!({"livenessProbe": handler}));
    let line = labelled(&printed, "Liveness:").concat();
    let printed = line.strip_prefix("Liveness:→").unwrap();
    printed.strip_suffix(" delay=0s timeout=0s period=0s #success=0 #failure=0").unwrap().to_owned()
}

#[test]
fn each_probe_shows_its_figures() {
    let probe = json!({
        "exec": {"command": ["a", "b c"]}, "initialDelaySeconds": 1, "timeoutSeconds": 2, "periodSeconds": 3,
        "successThreshold": 4, "failureThreshold": 5,
    });
    let printed = container(json!({"startupProbe": probe, "readinessProbe": probe, "livenessProbe": probe}));
    let figures = "exec [a b c] delay=1s timeout=2s period=3s #success=4 #failure=5";
    let lines = ["Liveness", "Readiness", "Startup"].map(|label| format!("{label}:→{figures}"));
    assert_eq!(printed[3..6], lines);
}

#[test]
fn each_handler_is_shown() {
    for (handler, printed) in [
        (json!({}), "unknown"),
        (json!({"exec": {}}), "exec []"),
        (json!({"tcpSocket": {"port": 80}}), "tcp-socket :80"),
        (json!({"tcpSocket": {"port": "http", "host": "h"}}), "tcp-socket h:http"),
        (json!({"grpc": {"port": 9000, "service": "s"}}), "grpc <pod>:9000 s"),
        (json!({"grpc": {"port": 9000, "service": ""}}), "grpc <pod>:9000 "),
    ] {
        assert_eq!(handled(handler.clone()), printed, "{handler}");
    }
}

#[test]
fn urls_print_as_in_go() {
    let get = |scheme, host, port: Value, path| {
        handled(json!({"httpGet": {"scheme": scheme, "host": host, "port": port, "path": path}}))
    };
    for (scheme, host, port, path, printed) in [
        ("HTTP", "", json!(80), "/", "http-get http://:80/"),
        ("HTTPS", "1.2.3.4", json!("web"), "/healthz", "http-get https://1.2.3.4:web/healthz"),
        ("HTTP", "::1", json!(80), "", "http-get http://[::1]:80"),
        ("HTTP", "h", json!(80), "no/slash", "http-get http://h:80/no/slash"),
        ("HTTP", "h", json!(80), "/a b?c=1#d%41", "http-get http://h:80/a%20b%3Fc=1%23d%2541"),
        ("HTTP", "h", json!(80), "/$&+,/:;=@-_.~", "http-get http://h:80/$&+,/:;=@-_.~"),
        ("HTTP", "h", json!(80), "/\u{e9}", "http-get http://h:80/%C3%A9"),
        ("HTTP", "a b%", json!(80), "*", "http-get http://a%20b%25:80/*"),
        ("HTTP", "", json!(""), "/x", "http-get http:///x"),
        ("HTTP", "", json!(""), "", "http-get http:"),
        ("", "", json!(""), "a:b/c", "http-get ./a:b/c"),
        ("", "", json!(""), "/a:b", "http-get /a:b"),
        ("", "h", json!(""), "", "http-get //h"),
    ] {
        assert_eq!(get(scheme, host, port, path), printed);
    }
    assert_eq!(handled(json!({"httpGet": {}})), "http-get //:0");
}
