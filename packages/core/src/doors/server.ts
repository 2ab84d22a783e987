/** What the command and the gateway use of servers: catalogs, names, states. */

export {
  type AcceptedDefinitionPort,
  type AcceptedDefinitions,
  AcceptedDefinitionsStore,
  type AcceptedDigests,
  addAccepted,
  type DefinitionOwner,
  toAccepted,
} from "../server/accepted-definitions.ts";
export { type View, viewIn } from "../server/accepted-views.ts";
export { breakingChanges } from "../server/breaking-changes.ts";
export type { Catalog, CatalogPrompt, CatalogTool, ListKind, ListStep } from "../server/catalog.ts";
export { CatalogCache } from "../server/catalog-cache.ts";
export type { Connection } from "../server/connection.ts";
export type { DiscoveredMCPPrompt } from "../server/discovered-prompt.ts";
export type { Elicit, Elicitation, ElicitationAnswer } from "../server/elicitation.ts";
export type { FilteredCatalog } from "../server/filtered-catalog.ts";
export {
  type ClientItem,
  type ClientLists,
  ClientPins,
  type ClientPinsOptions,
  listsFor,
  type Pin,
  type SeenCatalog,
  type SeenList,
  type SeenName,
} from "../server/names.ts";
export type { HostedServer, OpenInBackground } from "../server/opener.ts";
export { isOfServer, ownAddress, readOwnAddress, type ServerAddress } from "../server/own-address.ts";
export type { QuarantinedTool } from "../server/registries.ts";
export { type Answering, answerRequests } from "../server/requests.ts";
export { rootsFor } from "../server/roots.ts";
export type { Server } from "../server/server.ts";
export { initialServerState, notConnectedError } from "../server/server-state.ts";
export { type Difference, definitionDigest, differenceOf, membersDifference } from "../server/tool-changes.ts";
export {
  appOnlyReason,
  isAppOnly,
  isForViews,
  uiExtension,
  viewAddressesOf,
  viewsDeclared,
  viewType,
  withViewAddress,
} from "../server/tool-view.ts";
export { LoadedSkills } from "../skills/loaded-skills.ts";
export {
  declaresSkills,
  fileOf,
  ignoredMembers,
  instructionsFile,
  readsDirectories,
  type Skill,
  skillBytes,
  skillFolder,
  skillPath,
  skillsExtension,
} from "../skills/skill.ts";
export { removeSkills } from "../skills/skill-store.ts";
export { offerSkills, type ServerSkillList, skillText, utf8Text } from "../skills/skill-text.ts";
