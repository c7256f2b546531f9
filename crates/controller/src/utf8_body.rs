//! A body of a response that is UTF-8 whatever was sent.
//!
//! JSON is UTF-8, but an API server sends the data of a revision as the bytes that a user has stored. One wrong byte would make
//! a whole list unreadable.

use hyper::body::{Body, Bytes, Frame};
use std::pin::Pin;
use std::task::{Context, Poll};

/// In place of bytes that are no UTF-8: a character that stands in JSON, and in no text that people write.
const IN_PLACE: u8 = 0x7f;

/// A body with its wrong bytes replaced.
pub struct Utf8Body<B> {
    body: B,
    repair: Repair,
}

/// Replaces wrong bytes, chunk by chunk.
#[derive(Default)]
struct Repair {
    /// The begin of a character, whose end may come with the next chunk. The text ends with a brace or a line break: nothing is
    /// lost.
    begun: Vec<u8>,
}

impl<B> Utf8Body<B> {
    pub(crate) fn new(body: B) -> Self {
        Utf8Body { body, repair: Repair::default() }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Utf8Body<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let Utf8Body { body, repair } = self.get_mut();
        let frame = Pin::new(body).poll_frame(cx);
        frame.map(|frame| Some(frame?.map(|frame| frame.map_data(|bytes| repair.repair(bytes)))))
    }
}

impl Repair {
    fn repair(&mut self, bytes: Bytes) -> Bytes {
        if self.begun.is_empty() && std::str::from_utf8(&bytes).is_ok() {
            return bytes;
        }
        let mut chunk = std::mem::take(&mut self.begun);
        chunk.extend_from_slice(&bytes);
        let (mut text, mut rest) = (Vec::with_capacity(chunk.len()), chunk.as_slice());
        while let Err(error) = std::str::from_utf8(rest) {
            let (right, wrong) = rest.split_at(error.valid_up_to());
            text.extend_from_slice(right);
            let Some(length) = error.error_len() else {
                self.begun = wrong.to_vec();
                return text.into();
            };
            text.push(IN_PLACE);
            rest = wrong.get(length..).unwrap_or_default();
        }
        text.extend_from_slice(rest);
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(chunks: &[&[u8]]) -> String {
        let mut repair = Repair::default();
        let chunks = chunks.iter().map(|chunk| repair.repair(Bytes::copy_from_slice(chunk)));
        String::from_utf8(chunks.collect::<Vec<_>>().concat()).unwrap()
    }

    #[test]
    fn characters_stay_wherever_the_chunks_end() {
        let text = "{\"a\": \"ä€😀\"}".as_bytes();
        for end in 0..text.len() {
            let (begin, rest) = text.split_at(end);
            assert_eq!(repaired(&[begin, rest]).as_bytes(), text);
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(repaired(&bytes).as_bytes(), text);
    }

    #[test]
    fn wrong_bytes_are_replaced() {
        assert_eq!(repaired(&[b"\"a\xff\xfeb\""]), "\"a\x7f\x7fb\"");
        assert_eq!(repaired(&[b"\"\xe2\x82", b"\""]), "\"\x7f\"", "a character without its end");
        assert_eq!(repaired(&[b"\"\xe2", b"\xe2\x82\xac\""]), "\"\x7f€\"");
    }
}
