//! What is refused because there is too much of it.

use super::told;
use serde_json::json;

#[test]
fn rules_for_restarts_are_few() {
    let rule = json!({"action": "Restart", "exitCodes": {"operator": "NotIn", "values": [1]}});
    let rules = |count| json!({"restartPolicy": "Never", "restartPolicyRules": vec![rule.clone(); count]});
    assert_eq!(told("container", &rules(20)), [""; 0]);
    let error = "containers[0].restartPolicyRules: Too many: 21: must have at most 20 items";
    assert_eq!(told("container", &rules(21)), [error]);
}

#[test]
fn exit_codes_are_few() {
    let codes = |count| {
        let rule = json!({"action": "Restart", "exitCodes": {"operator": "In", "values": vec![0; count]}});
        json!({"restartPolicy": "Never", "restartPolicyRules": [rule]})
    };
    assert_eq!(told("container", &codes(255)), [""; 0]);
    let error =
        "containers[0].restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 items";
    assert_eq!(told("container", &codes(256)), [error]);
}

#[test]
fn credentials_and_profiles_are_short() {
    let context = |credentials: usize, profile: usize| {
        json!({"securityContext": {
            "windowsOptions": {"gmsaCredentialSpec": "c".repeat(credentials)},
            "appArmorProfile": {"type": "Localhost", "localhostProfile": "p".repeat(profile)},
        }})
    };
    assert_eq!(told("container", &context(65536, 4095)), [""; 0]);
    let expected = [
        format!(
            "containers[0].securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: \"{}\": gmsaCredentialSpec size must be under 64 KiB",
            "c".repeat(65537)
        ),
        "containers[0].securityContext.appArmorProfile.localhostProfile: Too long: may not be more than 4095 bytes"
            .to_owned(),
    ];
    assert_eq!(told("container", &context(65537, 4096)), expected);
}

#[test]
fn notes_to_a_signer_are_short() {
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
    assert_eq!(told("volume", &volume(most)), [""; 0]);
    let error = "volumes[0].projected.sources[0].podCertificate.userAnnotations: Too long: may not be more than 262144 bytes";
    assert_eq!(told("volume", &volume(most + 1)), [error]);
}
