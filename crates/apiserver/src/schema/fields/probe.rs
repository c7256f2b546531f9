//! The fields of probes and lifecycle hooks (v1.37 `api/core/v1` types.go).

use crate::schema::table::{
    INT_OR_STRING, INT32, INT64, Struct, TEXT, TEXT_LIST, always, many, nullable, omit_empty, one, pointer,
};

pub(super) static PROBE: Struct = Struct::new(
    "Probe",
    &[
        pointer("exec", one(&EXEC_ACTION)),
        pointer("httpGet", one(&HTTP_GET_ACTION)),
        pointer("tcpSocket", one(&TCP_SOCKET_ACTION)),
        pointer("grpc", one(&GRPC_ACTION)),
        omit_empty("initialDelaySeconds", INT32),
        omit_empty("timeoutSeconds", INT32),
        omit_empty("periodSeconds", INT32),
        omit_empty("successThreshold", INT32),
        omit_empty("failureThreshold", INT32),
        pointer("terminationGracePeriodSeconds", INT64),
    ],
);

pub(super) static LIFECYCLE: Struct = Struct::new(
    "Lifecycle",
    &[
        pointer("postStart", one(&LIFECYCLE_HANDLER)),
        pointer("preStop", one(&LIFECYCLE_HANDLER)),
        pointer("stopSignal", TEXT),
    ],
);

pub(super) static LIFECYCLE_HANDLER: Struct = Struct::new(
    "LifecycleHandler",
    &[
        pointer("exec", one(&EXEC_ACTION)),
        pointer("httpGet", one(&HTTP_GET_ACTION)),
        pointer("tcpSocket", one(&TCP_SOCKET_ACTION)),
        pointer("sleep", one(&SLEEP_ACTION)),
    ],
);

pub(super) static EXEC_ACTION: Struct = Struct::new("ExecAction", &[omit_empty("command", TEXT_LIST)]);

pub(super) static HTTP_GET_ACTION: Struct = Struct::new(
    "HTTPGetAction",
    &[
        omit_empty("path", TEXT),
        always("port", INT_OR_STRING),
        omit_empty("host", TEXT),
        omit_empty("scheme", TEXT),
        omit_empty("httpHeaders", many(&HTTP_HEADER)),
        pointer("protocol", TEXT),
    ],
);

pub(super) static HTTP_HEADER: Struct =
    Struct::new("HTTPHeader", &[always("name", TEXT), always("value", TEXT)]);

pub(super) static TCP_SOCKET_ACTION: Struct =
    Struct::new("TCPSocketAction", &[always("port", INT_OR_STRING), omit_empty("host", TEXT)]);

pub(super) static GRPC_ACTION: Struct =
    Struct::new("GRPCAction", &[always("port", INT32), nullable("service", TEXT), pointer("mode", TEXT)]);

pub(super) static SLEEP_ACTION: Struct = Struct::new("SleepAction", &[always("seconds", INT64)]);
