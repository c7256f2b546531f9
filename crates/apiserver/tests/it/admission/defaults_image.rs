//! The pull policy by the tag of an image reference.

use daemonset_apiserver::admission::default_template;
use serde_json::{Value, json};

fn pull_policy(image: &str) -> String {
    let mut template = json!({"spec": {"containers": [{"name": "c", "image": image}]}});
    default_template(&mut template);
    template.pointer("/spec/containers/0/imagePullPolicy").and_then(Value::as_str).unwrap().to_owned()
}

fn digits(count: usize) -> String {
    "0123456789abcdef".chars().cycle().take(count).collect()
}

#[test]
fn latest_or_no_tag_is_always_pulled() {
    let long = "a".repeat(255 - "library/".len());
    let sha = format!("a:latest@sha256:{}", digits(64));
    for image in [
        "a",
        "a:latest",
        "a/b",
        "a/b/c:latest",
        "localhost/a",
        "localhost:5000/a",
        "host.example/a:latest",
        "host.example:5000/a",
        "HOST/a",
        "HOST:1/a:latest",
        "docker.io/a",
        "index.docker.io/a/b",
        "[::1]:5000/a",
        "[2001:db8::1]/a",
        "127.0.0.1:5000/a",
        "a_b.c/d",
        "a__b",
        "a---b",
        "a.b",
        "a_b-c.d",
        "0",
        &long,
        &sha,
    ] {
        assert_eq!(pull_policy(image), "Always", "{image}");
    }
}

#[test]
fn other_tags_are_pulled_if_not_present() {
    let long = "a".repeat(256 - "library/".len());
    let [sha256, sha384, sha512] = [64, 96, 128].map(digits);
    let digested =
        [format!("a@sha256:{sha256}"), format!("a@sha384:{sha384}"), format!("a:1@sha512:{sha512}")];
    let broken = [
        format!("a:latest@sha256:{sha384}"),
        format!("a:latest@sha256:{}", sha256.to_uppercase()),
        format!("a:latest@md5:{sha256}"),
        format!("a:latest@sha384:{sha256}"),
        format!("a:latest@sha512:{sha256}"),
    ];
    let images = [
        "",
        "a:v1",
        "a:latest-1",
        "a:5000",
        "localhost:5000",
        "host:5000/a:v1",
        "A",
        "a/B",
        "a:",
        "a:latest@",
        ":latest",
        "a b",
        "a/",
        "/a",
        "a//b",
        "a.b/",
        "a:la/test",
        "host:port/a",
        "host:/a",
        "-host.example/a",
        "host-.example/a",
        "a..b",
        "a___b",
        "a._b",
        "-a",
        "a-",
        "a:-1",
        "a:.1",
        "a:t\u{fc}",
        "\u{c4}/a",
        "[]/a",
        "[::g]/a",
        "[::1]x/a",
        "a@b",
        "a\n",
        &sha256,
        &long,
    ];
    for image in images.into_iter().chain(digested.iter().chain(&broken).map(String::as_str)) {
        assert_eq!(pull_policy(image), "IfNotPresent", "{image}");
    }
}
