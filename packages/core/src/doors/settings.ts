/** What the command and the gateway use of settings and server definitions. */

export type {
  Authentication,
  ConfiguredServer,
  DisablingOrigin,
  MachineAuthSettings,
  OAuthSettings,
  Origin,
  Problem,
  PublishedOrigin,
  Scope,
  ServerDefinition,
  SettingsFile,
  SharedBy,
  StdioTransport,
  ToolBudget,
  Transport,
  VariableUse,
} from "../settings/define/definition.ts";
export { sandboxDocument, sandboxLine } from "../settings/define/describe-sandbox.ts";
export { readTransport } from "../settings/define/entry-transport.ts";
export {
  commandWords,
  describeMachineAuth,
  expandAuthentication,
  expandTransport,
  parseVariables,
  renderer,
  resolveTransport,
  valueOfVariable,
} from "../settings/define/expand.ts";
export { findVariables, type Mistake } from "../settings/define/mentions.ts";
export { whyNotServerName } from "../settings/define/server-name.ts";
export {
  type ArgumentChange,
  type EditOptions,
  removeServer,
  replaceArgument,
  setServerEnabled,
  setServerSandbox,
  writeServer,
} from "../settings/edit.ts";
export { type ClientEntry, fromForeignEntry, isOwnServer, ownEntryName } from "../settings/own-server.ts";
export { readSources, whereWritten } from "../settings/read/load.ts";
export { childNode, entriesOf, plainValueOf, propertyNodes } from "../settings/read/nodes.ts";
export { type Environment, type Locations, locate } from "../settings/read/paths.ts";
export { readSource } from "../settings/read/source.ts";
export { type Lookup, lookupFor, readEnvFiles } from "../settings/read/variables.ts";
export { entrySchema } from "../settings/schema/entry-schema.ts";
export { settingsJsonSchema } from "../settings/schema/json-schema.ts";
export { longestTime } from "../settings/schema/key.ts";
export { present } from "../settings/schema/present.ts";
export { validate, whyNotUrl } from "../settings/schema/validate.ts";
export { splitShellLine } from "../settings/shell-line.ts";
