/** What the command and the gateway use of connections: launching, redaction, logs, HTTP requests beside the protocol. */

export { clientInfo } from "../connect/client-info.ts";
export { findSecretProgram, type ReadSecret, withCommands } from "../connect/command-secret.ts";
export { loopReason } from "../connect/connect-failure.ts";
export type { ConnectStep } from "../connect/connect-step.ts";
export { inheritedVariables, type LaunchContext, planLaunch } from "../connect/launch.ts";
export type { TappedConnection, TappedMessage } from "../connect/message-tap.ts";
export type { HostQuestion, OpenedSession, OpenOptions } from "../connect/open-session.ts";
export { createRedactor, namedValuesIn, type Redact, replaceValues } from "../connect/redact.ts";
export { logPath, safeFileName } from "../connect/server-log.ts";
export { settingsFolders } from "../host/connect-context.ts";
export { createBoundedFetch, type Fetch } from "../net/bounded-fetch.ts";
export { openUrl, openUrlThrough, webUrl } from "../net/open-url.ts";
export { isLoopbackHost } from "../net/server-network.ts";
export { type BoxContents, boxContents, openBox, type SandboxContext, withPackage } from "../sandbox/box.ts";
export { whyNoSandbox } from "../sandbox/bubblewrap.ts";
export { type Download, findDownload, programName } from "../sandbox/download.ts";
export { fetchedPackage } from "../sandbox/fetch-package.ts";
export { type Learned, learnFrom } from "../sandbox/learn.ts";
export { removePrivateFolder } from "../sandbox/listed-paths.ts";
export { type ProposedPath, proposePaths } from "../sandbox/propose.ts";
export { type UnavailableCause, unavailable } from "../sandbox/unavailable.ts";
