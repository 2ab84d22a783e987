/** What the command and the gateway use of trust: the configuration, approvals, programs, the answer of the IDE. */

export { createIdeTrust, type IdeTrust } from "../ide/ide-trust.ts";
export { ideVariables } from "../ide/port-file.ts";
export { addAdHocServer, isServerNameTaken, withTriedEntry } from "../trust/ad-hoc.ts";
export { type Admission, howToTrust, whyUnapproved } from "../trust/admit.ts";
export {
  type Approvals,
  approvalsPath,
  approve,
  isApprovedBy,
  readApprovals,
  revoke,
  type ToolApproval,
} from "../trust/approvals.ts";
export { firstLine } from "../trust/approved-programs.ts";
export {
  type AdmittedServer,
  type Configuration,
  type ConfigurationOptions,
  isPlantedDemo,
  loadConfiguration,
} from "../trust/configuration.ts";
export { enableServer } from "../trust/enable-server.ts";
export { type EntryTrust, entryTrust } from "../trust/entry-trust.ts";
export { parentVariable, refuseNested } from "../trust/own-entry.ts";
export {
  findOwnProgram,
  findProgram,
  type ProgramPlace,
  programPlace,
  systemPath,
  withoutUntrusted,
} from "../trust/programs.ts";
export type { TrustDecision } from "../trust/trust-decision.ts";
export {
  readTrustedFolders,
  removeFolderTrust,
  setFolderTrust,
  TrustLevel,
  type TrustRule,
} from "../trust/trusted-folders.ts";
