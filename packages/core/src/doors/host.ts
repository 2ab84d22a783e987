/** What the command and the gateway use of the host itself. */

export { demoName } from "../demo/name.ts";
export type { IdentifiedServer, RequestingClient, TakeTurn } from "../host/gateway-types.ts";
export type { RunningHostOptions } from "../host/running-host.ts";
export { configuredSecrets } from "../host/secrets.ts";
export type {
  DecideOptions,
  DeclaredCapabilities,
  Explanation,
  GatewayHost,
  GreetingHooks,
  Host,
  ListableTool,
  NamedServer,
  OpenedHost,
  QuestionHandler,
  ServerDescription,
  SharedCapabilities,
} from "../host/types.ts";
export {
  type CachedCatalogInfo,
  createOpenedHost,
  type FailedStart,
  type HiddenTool,
  type HostNote,
  type HostPrompt,
  type HostResource,
  type HostSkill,
  type HostTool,
  type OpenHostOptions,
  openHost,
  type Progress,
  type RequestOptions,
  type ServerFlag,
} from "../host.ts";
export type { LedgerRow, RequestLedger } from "../request/ledger.ts";
export type { RequestNews, WatchedRequest } from "../request/request-watch.ts";
