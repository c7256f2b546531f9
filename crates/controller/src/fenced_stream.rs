//! Connections that write nothing after the renew deadline.
//!
//! A request passes through several queues of the client, and may wait for a new connection, before its bytes go to the kernel.
//! A process that is stopped in between would send it when it continues, however long that takes. So the last step before the
//! kernel checks the deadline again. Under TLS this is the encrypted stream: a connection that was refused once is closed.

use crate::renew_deadline::RenewDeadline;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower::{BoxError, Service};

/// Connects as the inner connector does, to [`FencedStream`]s.
#[derive(Clone)]
pub struct FencedConnector<C = HttpConnector> {
    inner: C,
    deadline: RenewDeadline,
}

/// A stream that refuses to write after the renew deadline.
pub struct FencedStream<S> {
    inner: S,
    deadline: RenewDeadline,
}

impl<C> FencedConnector<C> {
    /// Fences the streams of this connector.
    pub fn new(inner: C, deadline: RenewDeadline) -> Self {
        FencedConnector { inner, deadline }
    }
}

impl<C> Service<http::Uri> for FencedConnector<C>
where
    C: Service<http::Uri, Future: Send + 'static, Error: Into<BoxError>>,
{
    type Response = FencedStream<C::Response>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, uri: http::Uri) -> Self::Future {
        let (connecting, deadline) = (self.inner.call(uri), self.deadline.clone());
        Box::pin(async move { Ok(FencedStream { inner: connecting.await.map_err(Into::into)?, deadline }) })
    }
}

impl<S> FencedStream<S> {
    fn check(&self) -> io::Result<()> {
        self.deadline.check().map_err(io::Error::other)
    }
}

impl<S: Connection> Connection for FencedStream<S> {
    fn connected(&self) -> Connected {
        self.inner.connected()
    }
}

impl<S: Read + Unpin> Read for FencedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<S: Write + Unpin> Write for FencedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }
}
