//! Connections that write nothing after the renew deadline.
//!
//! A request passes through several queues of the client, and may wait for a new connection, before its bytes go to the kernel.
//! A process that is stopped in between would send it when it continues, however long that takes. So the last step before the
//! kernel checks the deadline again. Under TLS this is the encrypted stream: a connection that was refused once is closed.

use crate::lease::renew_deadline::RenewDeadline;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower::{BoxError, Service};

/// Connects as the inner connector does, to [`FencedStream`]s.
#[derive(Debug, Clone)]
pub struct FencedConnector<C = HttpConnector> {
    inner: C,
    deadline: RenewDeadline,
}

/// A stream that refuses to write after the renew deadline.
#[derive(Debug)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::clock::BootClock;

    /// Counts the calls, and writes as much as it gets.
    #[derive(Default)]
    struct Inner {
        is_vectored: bool,
        written: usize,
        flushes: usize,
        shutdowns: usize,
    }

    impl Write for Inner {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
            self.written += buf.len();
            Poll::Ready(Ok(buf.len()))
        }

        fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.flushes += 1;
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.shutdowns += 1;
            Poll::Ready(Ok(()))
        }

        fn is_write_vectored(&self) -> bool {
            self.is_vectored
        }
    }

    fn written(poll: Poll<io::Result<usize>>) -> Option<usize> {
        match poll {
            Poll::Ready(written) => written.ok(),
            Poll::Pending => panic!("the inner stream is always ready"),
        }
    }

    #[test]
    fn a_connector_that_is_not_ready_opens_no_connection() {
        let (inner, mut handle) = tower_test::mock::pair::<http::Uri, ()>();
        let mut connector = FencedConnector::new(inner, RenewDeadline::without_lease());
        let cx = &mut Context::from_waker(std::task::Waker::noop());
        handle.allow(0);
        assert!(connector.poll_ready(cx).is_pending());
        handle.allow(1);
        assert!(connector.poll_ready(cx).is_ready());
    }

    #[test]
    fn the_inner_stream_gets_each_write_until_the_deadline_and_none_after_it() {
        let cx = &mut Context::from_waker(std::task::Waker::noop());
        for is_vectored in [false, true] {
            let deadline = RenewDeadline::new(BootClock::default());
            let inner = Inner { is_vectored, ..Inner::default() };
            let mut stream = FencedStream { inner, deadline: deadline.clone() };
            assert_eq!(stream.is_write_vectored(), is_vectored);
            let bufs = [io::IoSlice::new(b"four")];
            assert_eq!(written(Pin::new(&mut stream).poll_write(cx, b"four")), None);
            assert_eq!(written(Pin::new(&mut stream).poll_write_vectored(cx, &bufs)), None);
            deadline.renewed(deadline.now(), std::time::Duration::from_secs(3600));
            assert_eq!(written(Pin::new(&mut stream).poll_write(cx, b"four")), Some(4));
            assert_eq!(written(Pin::new(&mut stream).poll_write_vectored(cx, &bufs)), Some(4));
            deadline.end();
            assert_eq!(written(Pin::new(&mut stream).poll_write(cx, b"four")), None);
            assert!(Pin::new(&mut stream).poll_flush(cx).is_ready());
            assert!(Pin::new(&mut stream).poll_shutdown(cx).is_ready());
            let Inner { written, flushes, shutdowns, .. } = stream.inner;
            assert_eq!((written, flushes, shutdowns), (8, 1, 1), "a stream may end after the deadline");
        }
    }
}
