//! Colours, in pairs for a light and a dark page, and their meanings.
//!
//! Every colour is written out twice, below a class and below the same class in `@media`: viewers that know no custom
//! properties draw the light one. The hues keep apart for the colour-blind, as in Okabe and Ito's palette: grey and blue
//! are up, warm ones are down.

use crate::phases::End;
use crate::row::State;
use crate::timeline::Timeline;

/// Red, green, blue.
type Rgb = [u8; 3];

struct ColorPair {
    light: Rgb,
    dark: Rgb,
}

const OLDEST: ColorPair = ColorPair { light: [0xbc, 0xc4, 0xcd], dark: [0x4b, 0x55, 0x60] };
const NEWEST: ColorPair = ColorPair { light: [0x0b, 0x6b, 0xb5], dark: [0x34, 0x85, 0xd4] };

const STYLE: &str = include_str!("style.css");
/// For pictures of rollouts that a policy steers.
const STEERED: &str = include_str!("steered.css");
/// For pictures with turns and pulls.
const TURNS: &str = include_str!("turns.css");

/// The class of a state.
pub fn class(state: State, revisions: usize) -> String {
    let name = match state {
        State::Available(revision) => return revision_class(revision, revisions),
        State::Surging => "doubled",
        State::Settling => "settling",
        State::Starting => "starting",
        State::NoPod => "nopod",
        State::Terminating => "terminating",
        State::Failed => "failed",
        State::NodeUnready => "nodedown",
        State::Idle => "idle",
    };
    name.to_owned()
}

/// Says how many there are, so that pictures with more and with fewer can share a page.
fn revision_class(revision: usize, revisions: usize) -> String {
    format!("r{revision}of{revisions}")
}

/// The name of a state.
pub fn label(state: State, revisions: &[String]) -> String {
    let text = match state {
        State::Available(revision) => return available(revision, revisions),
        State::Surging => "old and new side by side",
        State::Settling => "Ready, not yet available",
        State::Starting => "starting",
        State::NoPod => "no pod",
        State::Terminating => "terminating",
        State::Failed => "failed",
        State::NodeUnready => "node not Ready",
        State::Idle => "no pod needed",
    };
    text.to_owned()
}

fn available(revision: usize, revisions: &[String]) -> String {
    let hash = revisions.get(revision).map(String::as_str).unwrap_or_default();
    let hash = if hash.is_empty() { String::new() } else { format!(" ({hash})") };
    match (revision, revisions.len()) {
        (_, 0 | 1) => "available".to_owned(),
        (0, 2) => format!("old version{hash}"),
        (_, 2) => format!("new version{hash}"),
        (_, _) => format!("version {}{hash}", revision + 1),
    }
}

/// The whole style sheet, for these pictures.
pub fn css(timelines: &[&Timeline]) -> String {
    let mut pictures: Vec<usize> = timelines.iter().map(|timeline| timeline.revisions.len()).collect();
    let is_steered = timelines.iter().any(|timeline| timeline.steered.end != End::Unsteered);
    pictures.sort_unstable();
    pictures.dedup();
    let (mut light, mut dark) = (String::new(), String::new());
    for revisions in pictures {
        for revision in 0..revisions {
            let shade = shade(revision, revisions);
            light.push_str(&rule(revision, revisions, shade.light));
            dark.push_str(&rule(revision, revisions, shade.dark));
        }
    }
    let has_lanes = timelines.iter().any(|timeline| !timeline.lanes.is_empty());
    let mut style = STYLE.replace("/*revisions*/", &light).replace("/*dark revisions*/", &dark);
    for (is_shown, more) in [(is_steered, STEERED), (has_lanes, TURNS)] {
        if is_shown {
            style.push('\n');
            style.push_str(more.trim_end());
        }
    }
    style
}

/// The style sheet of a picture without states.
pub fn css_of_downtime() -> String {
    css(&[]) + "\n" + TURNS.trim_end()
}

fn rule(revision: usize, revisions: usize, [red, green, blue]: Rgb) -> String {
    format!(".{}{{color:#{red:02x}{green:02x}{blue:02x}}}", revision_class(revision, revisions))
}

/// From neutral to saturated; a single revision is the newest.
fn shade(revision: usize, revisions: usize) -> ColorPair {
    let last = revisions.saturating_sub(1).max(1);
    let at = if revisions < 2 { last } else { revision.min(last) };
    let part = |from: u8, to: u8| {
        let mixed = (usize::from(from) * (last - at) + usize::from(to) * at) / last;
        u8::try_from(mixed).unwrap_or(u8::MAX)
    };
    let mix = |[r, g, b]: Rgb, [red, green, blue]: Rgb| [part(r, red), part(g, green), part(b, blue)];
    ColorPair { light: mix(OLDEST.light, NEWEST.light), dark: mix(OLDEST.dark, NEWEST.dark) }
}
