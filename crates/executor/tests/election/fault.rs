//! The faults of requests for a lease.

use http::Request;
use kube::client::Body;
use serde_json::{Value, json};
use tower::{BoxError, service_fn};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// 500, and the call was not done.
    Error,
    /// 500, although the call was done.
    ErrorAfterwards,
    /// 403, as without rights.
    Forbidden,
    /// No response ever.
    Silent,
    /// No response ever, although the call was done.
    SilentAfterwards,
    /// No server listens.
    NotConnected,
    /// The connection breaks before the call was done.
    Broken,
    /// The connection breaks after the call was done.
    BrokenAfterwards,
}

impl Fault {
    pub const ALL: [Fault; 8] = [
        Fault::Error,
        Fault::ErrorAfterwards,
        Fault::Forbidden,
        Fault::Silent,
        Fault::SilentAfterwards,
        Fault::NotConnected,
        Fault::Broken,
        Fault::BrokenAfterwards,
    ];

    /// Whether the call is done before the fault.
    pub fn comes_afterwards(self) -> bool {
        matches!(self, Fault::ErrorAfterwards | Fault::BrokenAfterwards | Fault::SilentAfterwards)
    }
}

/// A `Status` object of a failure.
pub fn status(code: u16, reason: &str, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code})
}

/// The error that the client has when no server listens.
pub async fn not_connected() -> BoxError {
    type Io = hyper_util::rt::TokioIo<tokio::net::TcpStream>;
    let refuses = service_fn(|_: http::Uri| {
        std::future::ready(Err::<Io, _>(std::io::Error::from(std::io::ErrorKind::ConnectionRefused)))
    });
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
        .build::<_, Body>(refuses);
    let request = Request::get("http://10.0.0.1/").body(Body::empty()).expect("a request");
    Box::new(client.request(request).await.expect_err("no server listens"))
}
