/** The words of consent: what a rule says, what is asked of the rules, and what they answer. */

import type { JsonObject } from "@fairlead/wire";
import type { NamePattern } from "./name-pattern.ts";

/** What a rule says of a request: it runs, a person is asked first, or it does not run. */
export type DecisionOutcome = "allow" | "ask_user" | "deny";

/** Who speaks, strongest first. A workspace may only tighten. */
export type Tier = "administrator" | "user" | "workspace" | "conversation" | "default";

/** The approval mode of a session: `plan` denies tools that are not read-only and asks about the others; `yolo` allows what would be asked about. */
export type ApprovalMode = "default" | "plan" | "yolo";

/** What is asked for. A rule that names a tool speaks of tools; one that names none, and no kind, speaks of everything of the server. */
export type RequestKind = "tool" | "resource" | "prompt" | "sampling";

/** Where a rule comes from, so that a message can name it. */
export interface RuleOrigin {
  readonly source: "policy_file" | "settings" | "permissions" | "trust" | "approval" | "flag" | "answer" | "built_in";
  readonly file?: string;
  readonly line?: number;
  /** What a person would look for: `mcp.excluded`, `fairlead.permissions.denyTools`, `--allow`, `yolo`. */
  readonly name?: string;
}

/** A regular expression over the arguments of a call, written as JSON. It matches in linear time. */
export interface ArgsPattern {
  readonly text: string;
  readonly matches: (json: string) => boolean;
}

/** What is absent is no condition. */
export interface PolicyRule {
  readonly tier: Tier;
  readonly decision: DecisionOutcome;
  /** Within its tier, 0 to 999; `trust` is below all, at -1. */
  readonly priority: number;
  readonly server?: NamePattern;
  readonly tool?: NamePattern;
  readonly kind?: RequestKind;
  /** Looked for in the canonical JSON of the arguments. */
  readonly argsPattern?: ArgsPattern;
  readonly annotations?: ReadonlyMap<string, unknown>;
  readonly modes?: readonly ApprovalMode[];
  readonly interactive?: boolean;
  /** What the person who is stopped should know. */
  readonly denyMessage?: string;
  /** A deny that no tier opens, not even a stronger one. */
  readonly isGate?: boolean;
  /** Nobody knows for sure what it was meant to say: whatever its tier, it only ever tightens, and no mode takes it for an answer. */
  readonly isDoubt?: boolean;
  readonly origin: RuleOrigin;
}

/** A request to decide about: the server, the tool, its arguments, and the party that wants it. */
export interface CheckRequest {
  readonly server: string;
  /** The server's own name for it; of a resource the URI, of a prompt its name, of sampling nothing. */
  readonly tool: string;
  /** `tool`, unless said otherwise. */
  readonly kind?: RequestKind;
  /** Without them, no rule with an `argsPattern` matches. */
  readonly args?: JsonObject;
  /** As the server claims them. */
  readonly annotations?: JsonObject;
  /** The person believes what this server claims. */
  readonly trustsAnnotations?: boolean;
  readonly mode: ApprovalMode;
  /** Whether there is somebody to ask. */
  readonly interactive: boolean;
  /** Its definition is not the one that a person has seen. */
  readonly isChanged?: boolean;
}

/** What the rules say of one request, and which rule says so. */
export interface Decision {
  readonly decision: DecisionOutcome;
  readonly rule: PolicyRule;
  /** The rule that would have decided, had the mode, a changed definition or a missing terminal not overruled it. */
  readonly over?: PolicyRule;
}

/** @deprecated The new name is `Decision`. */
export type PolicyVerdict = Decision;
