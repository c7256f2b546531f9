//! Where pods may be created: on target nodes that have none, or under surge one that is outdated.

use super::docket::Docket;
use super::fleet::{Fleet, Station};
use super::kind::ViolationKind;
use super::memories;
use super::violation::Findings;
use crate::action::Action;
use crate::snapshot::placement::Placement;
use crate::snapshot::strategy::Strategy;

/// Checks all creates, and gives those that put a second pod on their node, as positions in the list.
pub(super) fn check(docket: &Docket<'_>, fleet: &mut Fleet, findings: &mut Findings<'_>) -> Vec<usize> {
    let snapshot = docket.snapshot;
    let mut surged = Vec::new();
    for (index, action) in docket.actions.iter().enumerate() {
        let Action::CreatePod { node: name, .. } = action else { continue };
        let node = snapshot.index.node(name.as_str());
        let Some(target) = node.filter(|node| snapshot.placement(*node) == Placement::Run) else {
            findings.add(index, ViolationKind::NotTargetNode);
            continue;
        };
        let station = fleet.stations.at(target);
        let (wrong, live) = (must_not_get_a_pod(docket, station, name.as_str()), station.live());
        fleet.stations.change(target, |station| station.creates = true);
        match wrong {
            Some(kind) => findings.add(index, kind),
            None if live > 0 => surged.push(index),
            None => {}
        }
    }
    surged
}

fn must_not_get_a_pod(docket: &Docket<'_>, station: &Station, node: &str) -> Option<ViolationKind> {
    if station.creates {
        return Some(ViolationKind::SecondCreate);
    }
    if station.unseen {
        return Some(ViolationKind::CreateInFlight);
    }
    let held = station.has_failed.then(|| memories::back_off(docket.snapshot, node).0).flatten();
    if let Some(until) = held {
        return Some(ViolationKind::HeldBack { until });
    }
    let live = station.live();
    let free = match docket.snapshot.strategy {
        Strategy::OnDelete | Strategy::Replace(_) => live + station.leaving + station.finished == 0,
        Strategy::Surge { .. } => {
            live == 0 || (live == 1 && station.leaving == 0 && waits_for_successor(station))
        }
    };
    (!free).then(|| ViolationKind::NodeOccupied { pods: live + station.leaving + station.finished })
}

/// Its live pod stays, is outdated and Ready `[surge-replaces-unready]`.
fn waits_for_successor(station: &Station) -> bool {
    station.staying(|grade| grade == 1 || grade == 3) > 0
}
