//! The proposal's update strategies, and surge together with host ports.

use super::{good, merge, messages};
use daemonset_apiserver::admission::{Form, Rules, SurgeWithHostPort, default, validate};
use serde_json::{Value, json};

fn rules(form: Form, surge_with_host_port: SurgeWithHostPort) -> Rules {
    Rules::new().form(form).surge_with_host_port(surge_with_host_port)
}

fn messages_of(spec: &Value, rules: &Rules) -> Vec<String> {
    let mut object = good();
    merge(&mut object, &json!({"spec": spec}));
    default(&mut object, rules.form);
    messages(&validate(&object, rules))
}

#[test]
fn each_strategy_has_its_own_limits() {
    let messages_of = |strategy: Value| {
        let strategy = json!({"updateStrategy": strategy});
        messages_of(&strategy, &rules(Form::Proposal, SurgeWithHostPort::Allowed))
    };
    for taken in [
        json!(null),
        json!({"type": "OnDelete"}),
        json!({"type": "RollingUpdate"}),
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}}),
        json!({"type": "SurgingRollingUpdate"}),
        json!({"type": "SurgingRollingUpdate", "surgingRollingUpdate": {"maxSurge": "5%"}}),
    ] {
        assert_eq!(messages_of(taken.clone()), [""; 0], "{taken}");
    }
    let surging =
        |surge: Value| json!({"type": "SurgingRollingUpdate", "surgingRollingUpdate": {"maxSurge": surge}});
    let unavailable =
        |limit: Value| json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": limit}});
    for (strategy, expected) in [
        (surging(json!(0)), "surgingRollingUpdate.maxSurge: Invalid value: 0: cannot be 0"),
        (surging(json!("0%")), "surgingRollingUpdate.maxSurge: Invalid value: \"0%\": cannot be 0"),
        (
            surging(json!(-1)),
            "surgingRollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            surging(json!("101%")),
            "surgingRollingUpdate.maxSurge: Invalid value: \"101%\": must not be greater than 100%",
        ),
        (unavailable(json!(0)), "rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0"),
        (
            unavailable(json!("101%")),
            "rollingUpdate.maxUnavailable: Invalid value: \"101%\": must not be greater than 100%",
        ),
        (
            json!({"type": "OnDelete", "surgingRollingUpdate": {"maxSurge": 1}}),
            "surgingRollingUpdate: Forbidden: may not be specified when strategy `type` is 'OnDelete'",
        ),
        (
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}),
            "rollingUpdate.maxSurge: Forbidden: may only be set when strategy `type` is 'SurgingRollingUpdate'",
        ),
        (
            json!({"type": "Recreate"}),
            "type: Unsupported value: \"Recreate\": supported values: \"RollingUpdate\", \"OnDelete\", \"SurgingRollingUpdate\"",
        ),
    ] {
        assert_eq!(messages_of(strategy.clone()), [format!("spec.updateStrategy.{expected}")], "{strategy}");
    }
}

fn pod(pod: Value) -> Value {
    json!({"template": {"spec": pod}})
}

/// The old and the new pod would bind the same port of their node.
#[test]
fn host_ports_are_refused_if_pods_surge() {
    let surging = json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}});
    let container =
        |port: Value| json!({"name": "main", "image": "i", "ports": [{"containerPort": 53}, port]});
    let with_port = pod(json!({"containers": [container(json!({"containerPort": 80, "hostPort": 8080}))]}));
    let mut object = surging.clone();
    merge(&mut object, &with_port);
    let refused = rules(Form::AppsV1, SurgeWithHostPort::Refused);
    let error = "spec.template.spec.containers[0].ports[1].hostPort: Invalid value: 8080: may not be set when pods are surged";
    assert_eq!(messages_of(&object, &refused), [error]);
    assert_eq!(messages_of(&object, &Rules::default()), [""; 0]);
    assert_eq!(messages_of(&with_port, &refused), [""; 0]);
    assert_eq!(messages_of(&surging, &refused), [""; 0]);

    merge(
        &mut object,
        &pod(json!({"hostNetwork": true, "containers": [container(json!({"containerPort": 80}))]})),
    );
    let ports: Vec<String> = messages_of(&object, &refused);
    assert_eq!(ports.len(), 2, "{ports:?}");

    let proposal = rules(Form::Proposal, SurgeWithHostPort::Refused);
    let mut object = json!({"updateStrategy": {"type": "SurgingRollingUpdate"}});
    merge(&mut object, &with_port);
    assert_eq!(messages_of(&object, &proposal), [error]);
}
