//! Label selectors as text.

use daemonset::kubernetes::{Selector, label_requirements};
use daemonset::model::LabelSelector;

fn read(text: &str) -> String {
    let requirements = label_requirements(text).unwrap();
    let told = requirements.iter().map(|r| format!("{} {} {}", r.key, r.operator, r.values.join("|")));
    told.collect::<Vec<_>>().join("; ")
}

fn problem(text: &str) -> String {
    label_requirements(text).unwrap_err().to_string()
}

#[test]
fn each_form_of_kubectl_is_read() {
    assert_eq!([read(""), read(" ")], ["", ""]);
    assert_eq!(read("app=web, tier == a"), "app In web; tier In a");
    assert_eq!(read("app!=web,empty="), "app NotIn web; empty In ");
    assert_eq!(read("a.example/app in (web, db),!old"), "a.example/app In web|db; old DoesNotExist ");
    assert_eq!(read("tier notin (a,b) , x"), "tier NotIn a|b; x Exists ");
    assert_eq!(read("tier in ()"), "tier In ");
    assert_eq!(read("size>3,size < 10"), "size Gt 3; size Lt 10");
    assert_eq!(read(&"a".repeat(63)), format!("{} Exists ", "a".repeat(63)));
}

#[test]
fn what_the_api_server_refuses_has_its_problem() {
    for (text, expected) in [
        ("a in (", "\"a in (\": a closing parenthesis is missing"),
        ("a in (b,c", "\"a in (b,c\": a closing parenthesis is missing"),
        (")(", "\")(\": a closing parenthesis is missing"),
        ("a in ((b)", "\"a in ((b)\": parentheses are nested"),
        ("a in (b),c in (d,(e))", "\"a in (b),c in (d,(e))\": parentheses are nested"),
        ("a in (b))", "\"a in (b))\": \"b)\" must be the value of a label"),
        ("a in (b) c", "\"a in (b) c\": text follows the closing parenthesis"),
        ("x,a within (b)", "\"a within (b)\": before parentheses must be a key, and \"in\" or \"notin\""),
        ("in (b)", "\"in (b)\": before parentheses must be a key, and \"in\" or \"notin\""),
        ("a,,b", "\"\": a requirement is missing beside a comma"),
        ("a b", "\"a b\": \"a b\" must be the key of a label"),
        ("!", "\"!\": \"\" must be the key of a label"),
        ("=b", "\"=b\": \"\" must be the key of a label"),
        ("-a", "\"-a\": \"-a\" must be the key of a label"),
        ("a/b/c", "\"a/b/c\": \"a/b/c\" must be the key of a label"),
        ("A.b/c", "\"A.b/c\": \"A.b/c\" must be the key of a label"),
        ("a=b=c", "\"a=b=c\": \"b=c\" must be the value of a label"),
        ("a=b c", "\"a=b c\": \"b c\" must be the value of a label"),
        ("size>big", "\"size>big\": \"big\" must be an integer"),
        ("size<", "\"size<\": \"\" must be an integer"),
    ] {
        assert_eq!(problem(text), expected);
    }
    assert!(label_requirements(&"a".repeat(64)).is_err());
}

#[test]
fn the_model_has_no_order() {
    let selector: LabelSelector = "app in (web),!old".parse().unwrap();
    assert!(Selector::new(&selector, "").unwrap().matches_labels(&[("app", "web")].into_iter().collect()));
    let error = "app,size>3".parse::<LabelSelector>().unwrap_err();
    assert_eq!(error.to_string(), "\"app,size>3\": \">\" and \"<\" are for the API server's lists only");
}
