//! The calls of the page's worker.
#![allow(unsafe_code, reason = "the code that the macro writes for the border to JavaScript")]

use crate::session::Session;
use serde_json::json;
use std::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

thread_local! {
    /// The worker has one cluster at a time.
    static SESSION: RefCell<Session> = RefCell::new(Session::default());
}

/// Answers a question, both in JSON: `{"ok": …}` or `{"error": "…"}`.
#[wasm_bindgen]
pub fn ask(question: &str) -> String {
    in_json(SESSION.with_borrow_mut(|session| session.ask(question)))
}

/// Opens the bytes of a file, and answers in the same form.
#[wasm_bindgen]
pub fn open(bytes: &[u8]) -> String {
    in_json(SESSION.with_borrow_mut(|session| session.open(bytes)))
}

fn in_json(answer: Result<String, String>) -> String {
    match answer {
        Ok(answer) => format!("{{\"ok\":{answer}}}"),
        Err(message) => json!({ "error": message }).to_string(),
    }
}
