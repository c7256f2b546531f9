//! The forms of names.

use daemonset::kubernetes::names::is_label_key;

#[test]
fn label_keys_are_what_the_api_server_takes() {
    let long = |count| "a".repeat(count);
    for good in ["a", "9", "controller-revision-hash", "A_b.C", "example.com/hash", "a-1/b", &long(63)] {
        assert!(is_label_key(good), "{good:?}");
    }
    assert!(is_label_key(&format!("{}/a", long(253))));
    for bad in ["", "/", "a/", "/a", "a/b/c", "-a", "a-", ".a", "a b", "\u{e9}", "A.com/a", "a..b/c", "a_b/c"]
    {
        assert!(!is_label_key(bad), "{bad:?}");
    }
    for bad in [long(64), format!("{}/a", long(254)), format!("a/{}", long(64))] {
        assert!(!is_label_key(&bad), "{bad:?}");
    }
}
