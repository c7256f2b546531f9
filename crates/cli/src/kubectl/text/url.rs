//! The URL of an HTTP probe as Go's `net/url` prints it.

use super::int_or_string;
use daemonset_apiserver::json::{member, text};
use serde_json::Value;
use std::fmt::Write;

/// `http://host:port/path` (v1.36 kubectl `describe.go DescribeProbe`, Go `net/url URL.String`).
pub(crate) fn probe_url(get: &Value) -> String {
    let (scheme, path) = (text(get, "scheme").to_lowercase(), text(get, "path"));
    let host = host(text(get, "host"), &int_or_string(member(get, "port")));
    let mut out = String::new();
    if !scheme.is_empty() {
        let _ = write!(out, "{scheme}:");
    }
    if !host.is_empty() || (!scheme.is_empty() && !path.is_empty()) {
        let _ = write!(out, "//{}", escaped(&host, is_host_byte));
    }
    let path = if path == "*" { path.to_owned() } else { escaped(path, is_path_byte) };
    if !path.is_empty() && !path.starts_with('/') && !host.is_empty() {
        out.push('/');
    }
    let colon_first = path.split('/').next().is_some_and(|segment| segment.contains(':'));
    if out.is_empty() && colon_first {
        out.push_str("./");
    }
    out + &path
}

/// Go `net.JoinHostPort`; without a port the host alone.
fn host(host: &str, port: &str) -> String {
    match (port.is_empty(), host.contains(':')) {
        (true, _) => host.to_owned(),
        (false, true) => format!("[{host}]:{port}"),
        (false, false) => format!("{host}:{port}"),
    }
}

fn escaped(text: &str, is_plain: impl Fn(u8) -> bool) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || is_plain(byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn is_path_byte(byte: u8) -> bool {
    b"$&+,/:;=@".contains(&byte)
}

/// RFC 3986's sub-delims, and the other characters that Go allows in a host.
fn is_host_byte(byte: u8) -> bool {
    b"!$&'()*+,;=:[]<>\"".contains(&byte)
}
