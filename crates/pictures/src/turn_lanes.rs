//! A lane under the row of each node: its turn, its drain, and the images that it pulls.

use crate::canvas::{Canvas, Px};
use crate::layout::{Layout, MOST_NAMES};
use crate::run::Run;
use daemonset_sim::Change;
use std::collections::BTreeMap;

/// The height of a lane, with the gap above it.
pub const LANE: f64 = 7.0;
const HEIGHT: f64 = 5.0;
/// Anything shorter would not be seen.
const NARROWEST: f64 = 1.0;

/// The gate that a drain opens.
pub const DRAINED: &str = "drained";

/// A part of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    pub from: i64,
    pub to: i64,
    pub kind: LanePart,
}

/// The parts of a lane, in the order in which they are drawn over each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LanePart {
    /// The node is in turn.
    Turn,
    /// The same, and the turn has cordoned it.
    Cordon,
    /// Its gate `drained` is closed.
    Drain,
    /// It pulls an image.
    Pull,
}

impl LanePart {
    const ALL: [LanePart; 4] = [LanePart::Turn, LanePart::Cordon, LanePart::Drain, LanePart::Pull];

    pub fn class(self) -> &'static str {
        match self {
            LanePart::Turn => "inturn",
            LanePart::Cordon => "cordoned",
            LanePart::Drain => "drain",
            LanePart::Pull => "pull",
        }
    }

    pub fn meaning(self) -> &'static str {
        match self {
            LanePart::Turn => "in turn",
            LanePart::Cordon => "in turn, cordoned",
            LanePart::Drain => "drained: others' pods leave",
            LanePart::Pull => "pulls an image",
        }
    }
}

/// The lanes by node; empty for a run without turns and pulls, and for more nodes than have names.
pub type Lanes = BTreeMap<String, Vec<Stretch>>;

/// The lanes of a run with so many rows.
pub fn lanes(run: &Run<'_>, rows: usize) -> Lanes {
    let mut lanes = Lanes::new();
    if rows > MOST_NAMES {
        return lanes;
    }
    // The open turns: since when, whether it cordons, and until when the node was drained.
    let mut open: BTreeMap<(&str, &str), Open> = BTreeMap::new();
    let mut add = |node: &str, from: i64, to: i64, kind: LanePart| {
        let (from, to) = (from.max(0), to.min(run.length()));
        if from < to {
            lanes.entry(node.to_owned()).or_default().push(Stretch { from, to, kind });
        }
    };
    for event in run.events.iter().take_while(|event| event.t <= run.end) {
        let t = run.offset(event.t);
        match &event.change {
            Change::TurnBegan { node, turn, cordons } => {
                let begun = Open { from: t, cordons: *cordons, drained: None };
                open.insert((node.as_str(), turn.as_str()), begun);
            }
            Change::GateOpened { node, turn, gate } if gate == DRAINED => {
                if let Some(turn) = open.get_mut(&(node.as_str(), turn.as_str())) {
                    turn.drained = Some(t);
                }
            }
            Change::TurnEnded { node, turn, .. } => {
                if let Some(turn) = open.remove(&(node.as_str(), turn.as_str())) {
                    turn.draw(t, |from, to, kind| add(node.as_str(), from, to, kind));
                }
            }
            Change::ImagePulled { node, since, .. } => {
                add(node.as_str(), run.offset(*since), t, LanePart::Pull);
            }
            _ => {}
        }
    }
    for ((node, _), turn) in open {
        turn.draw(run.length(), |from, to, kind| add(node, from, to, kind));
    }
    lanes
}

/// A turn that has begun.
struct Open {
    from: i64,
    cordons: bool,
    drained: Option<i64>,
}

impl Open {
    fn draw(&self, end: i64, mut add: impl FnMut(i64, i64, LanePart)) {
        add(self.from, end, if self.cordons { LanePart::Cordon } else { LanePart::Turn });
        if let Some(drained) = self.drained {
            add(self.from, drained, LanePart::Drain);
        }
    }
}

/// The kinds that occur.
pub fn kinds(lanes: &Lanes) -> Vec<LanePart> {
    let occurs = |kind: &LanePart| lanes.values().flatten().any(|stretch| stretch.kind == *kind);
    LanePart::ALL.into_iter().filter(occurs).collect()
}

/// Draws the lanes; `top` is the upper edge of the lane of each row.
pub fn draw<'n>(
    canvas: &mut Canvas,
    lanes: &Lanes,
    rows: impl Iterator<Item = (&'n str, f64)> + Clone,
    layout: &Layout,
) {
    for kind in kinds(lanes) {
        let mut data = String::new();
        for (node, top) in rows.clone() {
            for stretch in lanes.get(node).into_iter().flatten().filter(|stretch| stretch.kind == kind) {
                let (from, to) = (layout.time.x(stretch.from), layout.time.x(stretch.to));
                let wide = Px((to - from).max(NARROWEST));
                data.push_str(&format!("M{},{}h{wide}v{HEIGHT}h-{wide}z", Px(from), Px(top)));
            }
        }
        canvas.path(&format!("lane {}", kind.class()), &data);
    }
}
