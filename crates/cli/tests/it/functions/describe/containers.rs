//! Containers: image, ports, commands, resources, mounts.

use super::{container, described, labelled};
use serde_json::json;

#[test]
fn a_minimal_container_shows_none() {
    let printed = container(json!({"name": "c", "image": "i"}));
    assert_eq!(
        printed,
        ["Image:→i", "Port:→<none>", "Host Port:→<none>", "Environment:→<none>", "Mounts:→<none>"]
    );
    assert!(described(json!({"containers": []})).contains("  Containers: <none>\n"));
    assert!(!described(json!({"initContainers": []})).contains("Init Containers"));
    let init = described(json!({"initContainers": [{"name": "i"}], "containers": [{"name": "c"}]}));
    let order = ["  Init Containers:\n   i:\n    Image:→\n", "  Containers:\n   c:\n"];
    assert!(init.find(order[0]).unwrap() < init.find(order[1]).unwrap());
}

#[test]
fn ports_are_one_or_several() {
    let ports = json!([{"containerPort": 80, "protocol": "TCP"}]);
    let printed = container(json!({"ports": ports}));
    assert_eq!(printed[1..3], ["Port:→80/TCP", "Host Port:→0/TCP"]);
    let ports = json!([
        {"containerPort": 80, "protocol": "TCP", "name": "http"},
        {"containerPort": 53, "hostPort": 5353, "protocol": "UDP"},
    ]);
    let printed = container(json!({"ports": ports}));
    assert_eq!(printed[1..3], ["Ports:→80/TCP (http), 53/UDP", "Host Ports:→0/TCP (http), 5353/UDP"]);
}

#[test]
fn a_seccomp_profile_is_shown() {
    let printed = |profile| container(json!({"securityContext": {"seccompProfile": profile}}));
    assert_eq!(printed(json!({"type": "RuntimeDefault"}))[3], "SeccompProfile:→RuntimeDefault");
    let local = printed(json!({"type": "Localhost", "localhostProfile": "p.json"}));
    assert_eq!(local[3..5], ["SeccompProfile:→Localhost", "  LocalhostProfile:→p.json"]);
}

#[test]
fn each_line_of_a_command_has_a_line() {
    let printed = container(json!({"command": ["sh", "-c"], "args": ["a\nb", ""]}));
    assert_eq!(labelled(&printed, "Command:"), ["Command:", "  sh", "  -c"]);
    assert_eq!(labelled(&printed, "Args:"), ["Args:", "  a", "  b", "  "]);
}

#[test]
fn terminal_escapes_are_escaped() {
    let printed = container(json!({"args": ["\u{1b}[31mred\rx"]}));
    assert_eq!(labelled(&printed, "Args:"), ["Args:", "  ^[[31mred\\rx"]);
}

#[test]
fn resources_are_sorted_and_canonical() {
    let printed = container(json!({"resources": {
        "requests": {"memory": "1024Mi", "cpu": "1000m"},
        "limits": {"memory": 1_048_576, "example.com/gpu": "2"},
    }}));
    assert_eq!(labelled(&printed, "Limits:"), ["Limits:", "  example.com/gpu:→2", "  memory:→1048576"]);
    assert_eq!(labelled(&printed, "Requests:"), ["Requests:", "  cpu:→1", "  memory:→1Gi"]);
}

#[test]
fn mounts_and_devices_are_sorted_by_path() {
    let printed = container(json!({
        "volumeMounts": [
            {"name": "b", "mountPath": "/b", "readOnly": true},
            {"name": "a", "mountPath": "/a", "subPath": "s\"x\u{7}\u{a0}"},
        ],
        "volumeDevices": [{"name": "d", "devicePath": "/dev/b"}, {"name": "e", "devicePath": "/dev/a"}],
    }));
    assert_eq!(
        labelled(&printed, "Mounts:"),
        ["Mounts:", "  /a from a (rw,path=\"s\\\"x\\a\\u00a0\")", "  /b from b (ro)"]
    );
    assert_eq!(labelled(&printed, "Devices:"), ["Devices:", "  /dev/a from e", "  /dev/b from d"]);
    let printed = container(json!({"volumeDevices": [{"name": "d", "devicePath": "/d"}]}));
    assert_eq!(labelled(&printed, "Devices:"), ["Devices:→<none>", "  /d from d"], "as kubectl prints it");
}
