/** What the command and the gateway use of requests: validation, prompts, resources, checks. */

export { type CheckFile, type CheckTarget, readCheckFile } from "../checks/check-file.ts";
export { type CheckedServer, type CheckOutcome, loadSnapshots, runChecks, snapshotPath } from "../checks/run-checks.ts";
export { type CallLimits, CallQueue } from "../execute/call-queue.ts";
export type { CallResult } from "../execute/executor.ts";
export { prepareSchema } from "../execute/validation/prepare-schema.ts";
export { createValidator } from "../execute/validation/validator.ts";
export { decidedMethods, decidedSubject, invalidParameter } from "../request/request.ts";
export type { BeginningRequest } from "../request/request-watch.ts";
export type { CompletionRequest } from "../resources/completion.ts";
export { nearResources } from "../resources/describe-resources.ts";
export {
  bindArguments,
  findPrompt,
  type PromptCall,
  promptUsage,
  readPromptCall,
  serversNamedBy,
  splitWords,
  typedPromptName,
  unknownPrompt,
} from "../resources/prompt-arguments.ts";
export { toPromptInput, toPromptMessages } from "../resources/prompt-messages.ts";
export { mayBeginMention } from "../resources/references/find-mentions.ts";
export {
  findResource,
  type ResourceAddress,
  toWishes,
  whyHarmful,
  withScheme,
  writeMention,
  writeReference,
} from "../resources/references/resource-reference.ts";
export { splitTypedLines } from "../resources/typed-lines.ts";
