//! Limits of size and number.

use super::messages_of;
use serde_json::json;

#[test]
fn restart_rules_are_limited() {
    let rule = json!({"action": "Restart", "exitCodes": {"operator": "NotIn", "values": [1]}});
    let rules = |count| json!({"restartPolicy": "Never", "restartPolicyRules": vec![rule.clone(); count]});
    assert_eq!(messages_of("container", &rules(20)), [""; 0]);
    let error = "containers[0].restartPolicyRules: Too many: 21: must have at most 20 items";
    assert_eq!(messages_of("container", &rules(21)), [error]);
}

#[test]
fn exit_codes_are_limited() {
    let codes = |count| {
        let rule = json!({"action": "Restart", "exitCodes": {"operator": "In", "values": vec![0; count]}});
        json!({"restartPolicy": "Never", "restartPolicyRules": [rule]})
    };
    assert_eq!(messages_of("container", &codes(255)), [""; 0]);
    let error =
        "containers[0].restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items";
    assert_eq!(messages_of("container", &codes(256)), [error]);
}

#[test]
fn credentials_and_profiles_are_limited() {
    let context = |credentials: usize, profile: usize| {
        json!({"securityContext": {
            "windowsOptions": {"gmsaCredentialSpec": "c".repeat(credentials)},
            "appArmorProfile": {"type": "Localhost", "localhostProfile": "p".repeat(profile)},
        }})
    };
    assert_eq!(messages_of("container", &context(65536, 4095)), [""; 0]);
    let expected = [
        format!(
            "containers[0].securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: \"{}\": gmsaCredentialSpec size must be under 64 KiB",
            "c".repeat(65537)
        ),
        "containers[0].securityContext.appArmorProfile.localhostProfile: Too long: may not be more than 4095 bytes"
            .to_owned(),
    ];
    assert_eq!(messages_of("container", &context(65537, 4096)), expected);
}

#[test]
fn user_annotations_are_limited() {
    let volume = |length: usize| {
        let certificate = json!({
            "signerName": "a.b/c",
            "keyType": "ED25519",
            "keyPath": "k",
            "userAnnotations": {"a/b": "x".repeat(length)},
        });
        json!({"projected": {"sources": [{"podCertificate": certificate}]}})
    };
    let most = 256 * 1024 - 3;
    assert_eq!(messages_of("volume", &volume(most)), [""; 0]);
    let error = "volumes[0].projected.sources[0].podCertificate.userAnnotations: Too long: may not be more than 262144 bytes";
    assert_eq!(messages_of("volume", &volume(most + 1)), [error]);
}
