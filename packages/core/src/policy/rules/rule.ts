/** The types of rules, of requests to check, and of decisions. */

import type { JsonObject } from "@fairlead/wire";
import type { NamePattern } from "./name-pattern.ts";

/** What a rule decides about a request: the request runs, needs confirmation, or is denied. */
export type DecisionOutcome = "allow" | "ask_user" | "deny";

/** The author of a rule, strongest first. Rules of a workspace may only add restrictions. */
export type Tier = "administrator" | "user" | "workspace" | "conversation" | "default";

/**
 * The approval mode of a session. `plan` denies tools that are not read-only, and asks about read-only tools. `yolo`
 * allows calls that would need confirmation.
 */
export type ApprovalMode = "default" | "plan" | "yolo";

/**
 * The kind of a request. A rule with a tool name but no kind applies only to tools. A rule with neither applies to all
 * requests to the server, but allows no host: `host` is a host that a program wants to reach from its sandbox.
 */
export type RequestKind = "tool" | "resource" | "prompt" | "sampling" | "skill" | "host";

/** The place where a rule is written, so that a message can name it. */
export interface RuleOrigin {
  readonly source: "policy_file" | "settings" | "permissions" | "trust" | "approval" | "flag" | "answer" | "built_in";
  readonly file?: string;
  readonly line?: number;
  /**
   * The name by which the user can find the rule, such as `mcp.excluded`, `fairlead.permissions.denyTools` or
   * `--allow`.
   */
  readonly name?: string;
}

/** A regular expression to search for in the JSON text of a call's arguments. Matching takes linear time. */
export interface ArgsPattern {
  readonly text: string;
  readonly matches: (json: string) => boolean;
}

/** One rule. A condition whose member is absent is always met. */
export interface PolicyRule {
  readonly tier: Tier;
  readonly decision: DecisionOutcome;
  /** Priority within the tier, from 0 to 999. Rules of the setting `trust` have -1. */
  readonly priority: number;
  readonly server?: NamePattern;
  readonly tool?: NamePattern;
  readonly kind?: RequestKind;
  /**
   * If present, the rule applies only to requests of this gateway client. It then never applies to the user or a model.
   */
  readonly client?: NamePattern;
  /** If present, the rule applies only if the host works for this user: `RequestingUser.user`. */
  readonly user?: NamePattern;
  /** If present, the rule applies only if the host works for a user who is in this group. */
  readonly group?: NamePattern;
  /**
   * Only for rules that ask: a member of this group must confirm the request, and never the user who sends it. Without
   * such a user the rule denies.
   */
  readonly approver?: NamePattern;
  /** A pattern to search for in the canonical JSON of the arguments. */
  readonly argsPattern?: ArgsPattern;
  readonly annotations?: ReadonlyMap<string, unknown>;
  readonly modes?: readonly ApprovalMode[];
  readonly interactive?: boolean;
  /** The message for the user when this rule denies. */
  readonly denyMessage?: string;
  /** True if no rule can overrule this deny, not even a rule of a stronger tier. */
  readonly isGate?: boolean;
  /**
   * True if the rule stands for a file that Fairlead could not read, or for a table with a mistake. Such a rule can
   * only make decisions stricter, in every tier, and yolo mode does not overrule it.
   */
  readonly isDoubt?: boolean;
  readonly origin: RuleOrigin;
}

/** The user for whom a host works, where several people share a program. Rules with `user` or `group` are about them. */
export interface RequestingUser {
  /** A name that no other user ever gets, such as the issuer and subject of a token. */
  readonly user: string;
  readonly groups?: readonly string[] | undefined;
}

/** A request to decide about, with everything that the decision depends on except the rules. */
export interface CheckRequest {
  readonly server: string;
  /**
   * The name that the server gives the tool or prompt, the URI of the resource or skill, or the host as `name:port`. Empty
   * for sampling.
   */
  readonly tool: string;
  /** The name of a skill, beside its URI. A rule may name either. */
  readonly label?: string | undefined;
  /** Whether another skill of the server has the same name. A rule that allows then counts only if it names the URI. */
  readonly isLabelShared?: boolean;
  /** The kind of the request. Default: `tool`. */
  readonly kind?: RequestKind;
  /** The gateway's client that sends the request. Absent if the user or a model sends it. */
  readonly client?: string | undefined;
  /** The user for whom the host works. Absent: no rule with `user` or `group` matches. */
  readonly principal?: RequestingUser | undefined;
  /** The arguments. If absent, no rule with an `argsPattern` matches. */
  readonly args?: JsonObject | undefined;
  /** The tool's annotations, as claimed by the server. */
  readonly annotations?: JsonObject | undefined;
  /** Whether the user trusts the annotations of this server. */
  readonly trustsAnnotations?: boolean;
  readonly mode: ApprovalMode;
  /** Whether there is a terminal to ask on. */
  readonly interactive: boolean;
  /** Whether the definition differs from the accepted one. */
  readonly isChanged?: boolean;
  /** Whether no approval can be bound to what the request reads: the files of a dynamic skill. */
  readonly isUnbound?: boolean;
  /** Other servers whose skills the model acts on: one of them may have caused this read. */
  readonly actingOn?: readonly string[] | undefined;
  /** Why Fairlead cannot tell whether the definition differs. Used only with `isChanged`. */
  readonly doubt?: string | undefined;
}

/** The outcome of the rules for one request, and the rule that decided. */
export interface Decision {
  readonly decision: DecisionOutcome;
  readonly rule: PolicyRule;
  /**
   * The rule that would have decided if the approval mode, a changed definition or a missing terminal had not changed
   * the decision.
   */
  readonly over?: PolicyRule;
}
