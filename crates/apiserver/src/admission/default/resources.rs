//! Amounts in resource lists: the API server keeps thousandths, and rounds what is finer away from zero.

use super::container::ALL;
use super::place::{
    self,
    Step::{self, Each, In},
};
use crate::quantity::Quantity;
use serde_json::{Map, Value};

/// The objects whose fields are amounts (v1.36 apps/v1 zz_generated.defaults.go SetObjectDefaults_DaemonSet).
const LISTS: &[&[Step]] = &[
    &[In("spec"), ALL, In("resources"), In("limits")],
    &[In("spec"), ALL, In("resources"), In("requests")],
    &[In("spec"), In("overhead")],
    &[In("spec"), In("resources"), In("limits")],
    &[In("spec"), In("resources"), In("requests")],
    &[In("spec"), EACH_VOLUME, EPHEMERAL, CLAIM, In("spec"), In("resources"), In("limits")],
    &[In("spec"), EACH_VOLUME, EPHEMERAL, CLAIM, In("spec"), In("resources"), In("requests")],
];
const EACH_VOLUME: Step = Each("volumes");
const EPHEMERAL: Step = In("ephemeral");
const CLAIM: Step = In("volumeClaimTemplate");

/// v1.36 core/v1 defaults.go SetDefaults_ResourceList; what is no quantity stays.
pub(super) fn round_up(template: &mut Value) {
    for list in LISTS {
        place::visit(template, list, &mut round_list);
    }
}

fn round_list(list: &mut Map<String, Value>) {
    for amount in list.values_mut() {
        if let Ok(quantity) = Quantity::from_json(amount) {
            *amount = Value::from(quantity.rounded_up_to_thousandths().to_string());
        }
    }
}
