//! A label selector as a person writes it for kubectl: `app=web,tier in (a, b),!old`
//! (v1.36 `apimachinery/pkg/labels/selector.go Parse`).

use daemonset::model::{LabelSelector, Requirement};
use daemonset_drain::PodSelector;

/// Reads it; an empty text selects all pods.
pub fn parse(text: &str) -> Result<PodSelector, String> {
    let mut match_expressions = Vec::new();
    for part in parts(text)? {
        let wrong = |problem: String| format!("{:?}: {problem}", part.trim());
        match_expressions.push(requirement(part.trim()).map_err(wrong)?);
    }
    PodSelector::new(LabelSelector { match_expressions, ..LabelSelector::default() })
        .map_err(|invalid| invalid.to_string())
}

/// The parts between commas outside of parentheses.
fn parts(text: &str) -> Result<Vec<&str>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut depth = 0_i32;
    let mut is_wrong = false;
    let parts = text.split(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        is_wrong |= !(0..=1).contains(&depth);
        c == ',' && depth == 0
    });
    let parts = parts.collect();
    if is_wrong || depth != 0 { Err("its parentheses are not in pairs".to_owned()) } else { Ok(parts) }
}

fn requirement(text: &str) -> Result<Requirement, String> {
    if let Some((head, values)) = text.split_once('(') {
        let values = values.strip_suffix(')').ok_or("text follows the closing parenthesis")?;
        let (key, operator) = match head.split_whitespace().collect::<Vec<_>>().as_slice() {
            [key, "in"] => (*key, "In"),
            [key, "notin"] => (*key, "NotIn"),
            _ => return Err("before parentheses must be a key, and `in` or `notin`".to_owned()),
        };
        return with_values(key, operator, values.split(','));
    }
    if let Some(key) = text.strip_prefix('!') {
        return with_values(key, "DoesNotExist", []);
    }
    for (sign, operator) in [("!=", "NotIn"), ("==", "In"), ("=", "In")] {
        if let Some((key, value)) = text.split_once(sign) {
            return with_values(key, operator, [value]);
        }
    }
    with_values(text, "Exists", [])
}

fn with_values<'t>(
    key: &str,
    operator: &str,
    values: impl IntoIterator<Item = &'t str>,
) -> Result<Requirement, String> {
    let word = |text: &str, what: &str| {
        let text = text.trim();
        let is_word = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
        if is_word { Ok(text.to_owned()) } else { Err(format!("{text:?} must be the {what} of a label")) }
    };
    let values = values.into_iter().map(|value| word(value, "value")).collect::<Result<_, _>>()?;
    match word(key, "key")? {
        empty if empty.is_empty() => Err("a key is missing".to_owned()),
        key => Ok(Requirement { key, operator: operator.to_owned(), values }),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn read(text: &str) -> String {
        let selector = parse(text).unwrap();
        let requirements = selector.as_label_selector().match_expressions.iter();
        let told = requirements.map(|r| format!("{} {} {}", r.key, r.operator, r.values.join("|")));
        told.collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn each_form_of_kubectl_is_read() {
        assert_eq!(read(" "), "");
        assert_eq!(read("app=web, tier == a"), "app In web; tier In a");
        assert_eq!(read("app!=web,empty="), "app NotIn web; empty In ");
        assert_eq!(read("a.example/app in (web, db),!old"), "a.example/app In web|db; old DoesNotExist ");
        assert_eq!(read("tier notin (a,b) , x"), "tier NotIn a|b; x Exists ");
        assert_eq!(read("tier in ()"), "tier In ");
    }

    #[test]
    fn what_is_no_selector_has_its_problem() {
        for text in [
            "a in (",
            "a in (b))",
            "a in ((b))",
            "a in (b) c",
            "a within (b)",
            "in (b)",
            "a,,b",
            "a b",
            "!",
            "=b",
            "a=b=c",
            "size>3",
            ")(",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(parse("size>3").unwrap_err(), "\"size>3\": \"size>3\" must be the key of a label");
    }
}
