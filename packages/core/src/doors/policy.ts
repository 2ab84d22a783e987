/** What the command and the gateway use of rules, confirmations, approvals, lock files and the ledger. */

export {
  forgetApprovalsNamed,
  forgetToolApproval,
  readToolApprovals,
  saveToolApproval,
  type ToolApproval,
  type ToolApprovalStore,
} from "../policy/approvals.ts";
export {
  type AnswerPlace,
  type ConfirmationAnswer,
  type ConfirmPort,
  DeclinedCall,
  mayHaveChanged,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "../policy/confirmation.ts";
export {
  type ConfirmationChoice,
  type ConfirmationView,
  choiceText,
  outcomeOf,
  requestName,
  requestVerbs,
  toConfirmationView,
} from "../policy/confirmation-view.ts";
export { approvalRule, type ToolIdentity } from "../policy/decide.ts";
export { Batches } from "../policy/ledger/batches.ts";
export { createLedger, ledgerFolder } from "../policy/ledger/ledger.ts";
export type { LedgerEntry } from "../policy/ledger/ledger-entry.ts";
export { compareLock, isEntryChanged, type LockDrift } from "../policy/lock/lock-drift.ts";
export {
  type LockedCatalog,
  type LockedServer,
  type LockFile,
  lockCatalog,
  lockPath,
  lockText,
  parseLock,
  promptDigest,
  readLock,
  refuseNewer,
} from "../policy/lock/lock-file.ts";
export { type OverruledRequest, overruledBy } from "../policy/overruled.ts";
export { PolicyEngine } from "../policy/policy-engine.ts";
export { policySubject } from "../policy/refusal.ts";
export { approverOf, defaultRules } from "../policy/rules/built-in-rules.ts";
export { type AllowedTools, loadPolicies, type Policies, readPolicies } from "../policy/rules/load-policies.ts";
export { escapeName, everyResource, exactName, namePattern } from "../policy/rules/name-pattern.ts";
export type {
  ApprovalMode,
  CheckRequest,
  Decision,
  DecisionOutcome,
  PolicyRule,
  RequestKind,
  Tier,
} from "../policy/rules/rule.ts";
export { ruleText } from "../policy/rules/rule-text.ts";
export {
  isAbout,
  type RemovedRule,
  type RuleInFile,
  type RuleToWrite,
  removeRules,
  userRuleFile,
  usualPriority,
  type WrittenRule,
  writeRule,
} from "../policy/rules/write-rule.ts";
