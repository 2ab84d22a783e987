export { type BrowserChoices, type BrowserOutcome, browser } from "./authorization-server/browser.ts";
export { after, answerLost, type Fault, oversized, silence } from "./authorization-server/faults.ts";
export { type GuardedServer, type GuardSettings, guardedServer } from "./authorization-server/guarded-server.ts";
export { newIdToken, signersKey } from "./authorization-server/id-token.ts";
export { type AuthorizationServer, authorizationServer, type SeenCall } from "./authorization-server/server.ts";
export type { AuthorizationSettings } from "./authorization-server/settings.ts";
export { type BadNetwork, badNetwork, type NetworkFaults } from "./bad-network.ts";
export { hasBubblewrap } from "./bubblewrap.ts";
export { certificate, key as certificateKey } from "./certificate.ts";
export { chromiumProgram, openChromium } from "./chromium.ts";
export { type CollectedSpan, type Collector, collector } from "./collector.ts";
export { type CutHow, type CuttingServer, cuttingServer, eventsBeforeAnswer } from "./cutting-server.ts";
export { type Deferred, deferred } from "./deferred.ts";
export type { GoogleSettings } from "./google-server/cloud.ts";
export { type GoogleCall, type GoogleServer, googleServer } from "./google-server/server.ts";
export { forgetEndedResources } from "./guard/scope.ts";
export { type HostileServer, type HostileServers, hostileServers } from "./hostile-servers.ts";
export { hostileText } from "./hostile-text.ts";
export { type CompanionFaults, type IdeCompanion, ideCompanion } from "./ide-companion.ts";
export { focusedName, readFocus, tabTo } from "./keyboard.ts";
export {
  type McpRegistryServer,
  mcpRegistry,
  type PublishedItem,
  type PublishedServer,
  published,
} from "./mcp-registry.ts";
export { anthropicError, anthropicOverloaded, anthropicRateLimited } from "./model-apis/anthropic/errors.ts";
export { type AnthropicApi, anthropicApi } from "./model-apis/anthropic/server.ts";
export type { AnthropicSettings } from "./model-apis/anthropic/settings.ts";
export {
  answered,
  cutAfter,
  endsAfter,
  failsAfter,
  heldUntil,
  type ModelFault,
  stallsAfter,
} from "./model-apis/faults.ts";
export {
  geminiError,
  internalError,
  invalidArgument,
  overloaded,
  quotaExceeded,
} from "./model-apis/gemini/errors.ts";
export { type GeminiApi, type GeminiRequest, geminiApi } from "./model-apis/gemini/server.ts";
export type { GeminiSettings } from "./model-apis/gemini/settings.ts";
export { obedient } from "./model-apis/obedient.ts";
export { openaiError, quotaUsedUp, rateLimited, serverError } from "./model-apis/openai/errors.ts";
export { type OpenaiApi, type OpenaiRequest, openaiApi } from "./model-apis/openai/server.ts";
export type { OpenaiSettings } from "./model-apis/openai/settings.ts";
export { type Answering, type Asked, calls, inTurn, type ModelAnswer, type Piece, says } from "./model-apis/script.ts";
export { type NpmPackage, type NpmRegistry, npmRegistry } from "./npm-registry.ts";
export {
  createDatabase,
  type PostgresAddress,
  PostgresServer,
  postgresVersion,
  type TestDatabase,
  testDatabase,
} from "./postgres.ts";
export { childrenOf, isRunning, processesWith, until } from "./process-list.ts";
export { keepsPromise, notePromise, type Promised, type PromiseRow, type Random, randomFrom } from "./promises.ts";
export {
  bundledServer,
  type EverythingServer,
  everythingServer,
  realServer,
  type ServerWithViews,
} from "./real-server.ts";
export {
  drawnWalk,
  filesTwice,
  namedIn,
  type RecordedFunction,
  type RecordedStack,
  recordStacks,
  walkOf,
} from "./recorded-stacks.ts";
export { type RefusingProxy, refusingProxy } from "./refusing-proxy.ts";
export { scaled, seed } from "./scale.ts";
export { canMount, type SmallDisk, smallDisk } from "./small-disk.ts";
export { spanTree, withErrors } from "./span-tree.ts";
export { programServer, type StdioEntry, type StdioProgram, stdioServer } from "./stdio-server.ts";
export { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";
export { noteProgram } from "./tested-with.ts";
export {
  behaves,
  brokenJson,
  cutAt,
  empty,
  emptyJson,
  loginPage,
  noContent,
  redirectTo,
  status,
  wrongContentType,
} from "./web-replies.ts";
export { type WebReply, type WebRequest, type WebServer, webServer } from "./web-server.ts";
export { type Workshop, workshop } from "./workshop.ts";
