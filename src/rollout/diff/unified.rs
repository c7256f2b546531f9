//! Two lists of lines in the form of `diff -u`.

/// Lines that are shown around a change.
const CONTEXT: usize = 3;

/// Beyond so many pairs of lines no common ones are looked for: all that differs is one change.
const LARGEST: usize = 4_000_000;

/// A line of both, of the old one or of the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Old(&'a str),
    New(&'a str),
}

/// Each side is its title and its lines.
pub(super) fn unified(old: (&str, &[String]), new: (&str, &[String])) -> String {
    let lines = script(old.1, new.1);
    let mut out = format!("--- {}\n+++ {}\n", old.0, new.0);
    for (from, to) in hunks(&lines) {
        write_hunk(&lines, from, to, &mut out);
    }
    out
}

/// Every line once, in order.
fn script<'a>(old: &'a [String], new: &'a [String]) -> Vec<Line<'a>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (same, old) = old.split_at(head);
    let (_, new) = new.split_at(head);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, end) = old.split_at(old.len() - tail);
    let (new, _) = new.split_at(new.len() - tail);
    let mut script: Vec<_> = same.iter().map(|line| Line::Same(line)).collect();
    if old.len().saturating_mul(new.len()) <= LARGEST {
        script.extend(Common::of(old, new).script());
    } else {
        script.extend(old.iter().map(|line| Line::Old(line)).chain(new.iter().map(|line| Line::New(line))));
    }
    script.extend(end.iter().map(|line| Line::Same(line)));
    script
}

/// The longest common subsequence of two lists of lines.
struct Common<'a> {
    old: &'a [String],
    new: &'a [String],
    /// The length of that of what is left, by position in both.
    lengths: Vec<u32>,
}

impl<'a> Common<'a> {
    fn of(old: &'a [String], new: &'a [String]) -> Self {
        let mut common = Common { old, new, lengths: vec![0; (old.len() + 1) * (new.len() + 1)] };
        for (i, a) in old.iter().enumerate().rev() {
            for (j, b) in new.iter().enumerate().rev() {
                let longest = if a == b {
                    common.left(i + 1, j + 1) + 1
                } else {
                    common.left(i + 1, j).max(common.left(i, j + 1))
                };
                let at = common.at(i, j);
                if let Some(length) = common.lengths.get_mut(at) {
                    *length = longest;
                }
            }
        }
        common
    }

    fn at(&self, i: usize, j: usize) -> usize {
        i * (self.new.len() + 1) + j
    }

    fn left(&self, i: usize, j: usize) -> u32 {
        self.lengths.get(self.at(i, j)).copied().unwrap_or(0)
    }

    /// Old lines before new ones where both differ.
    fn script(&self) -> Vec<Line<'a>> {
        let (mut i, mut j, mut script) = (0, 0, Vec::new());
        loop {
            let line = match (self.old.get(i), self.new.get(j)) {
                (Some(a), Some(b)) if a == b => Line::Same(a),
                (Some(a), Some(_)) if self.left(i + 1, j) >= self.left(i, j + 1) => Line::Old(a),
                (Some(a), None) => Line::Old(a),
                (_, Some(b)) => Line::New(b),
                (None, None) => return script,
            };
            i += usize::from(!matches!(line, Line::New(_)));
            j += usize::from(!matches!(line, Line::Old(_)));
            script.push(line);
        }
    }
}

/// Ranges of the script: changes with their context, those that touch each other together.
fn hunks(lines: &[Line<'_>]) -> Vec<(usize, usize)> {
    let mut hunks: Vec<(usize, usize)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if matches!(line, Line::Same(_)) {
            continue;
        }
        let (from, to) = (index.saturating_sub(CONTEXT), (index + CONTEXT + 1).min(lines.len()));
        match hunks.last_mut() {
            Some((_, end)) if from <= *end => *end = to,
            _ => hunks.push((from, to)),
        }
    }
    hunks
}

fn write_hunk(lines: &[Line<'_>], from: usize, to: usize, out: &mut String) {
    let before = lines.get(..from).unwrap_or_default();
    let hunk = lines.get(from..to).unwrap_or_default();
    let range = |is_others: fn(&Line<'_>) -> bool| {
        let count = |lines: &[Line<'_>]| lines.iter().filter(|line| !is_others(line)).count();
        let length = count(hunk);
        format!("{},{length}", count(before) + usize::from(length > 0))
    };
    let old = range(|line| matches!(line, Line::New(_)));
    let new = range(|line| matches!(line, Line::Old(_)));
    *out += &format!("@@ -{old} +{new} @@\n");
    for line in hunk {
        *out += &match line {
            Line::Same(line) => format!(" {line}\n"),
            Line::Old(line) => format!("-{line}\n"),
            Line::New(line) => format!("+{line}\n"),
        };
    }
}
