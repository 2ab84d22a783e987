import type { JsonObject } from "@fairlead/wire";
import type { CallRow } from "./rows.ts";
import type { DecisionLine } from "./tools.ts";

/** A rule, with the place where it is written. */
export interface RuleRow {
  /** Identifies the rule as it stands. */
  readonly id: string;
  readonly tier: "administrator" | "user" | "workspace" | "conversation" | "default";
  readonly decision: DecisionLine["decision"];
  readonly priority: number;
  /** Patterns of names. Absent: any. */
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly kind?: CallRow["kind"] | undefined;
  readonly client?: string | undefined;
  readonly user?: string | undefined;
  readonly group?: string | undefined;
  /** A pattern that the arguments must match, as JSON. */
  readonly argsPattern?: string | undefined;
  readonly annotations?: JsonObject | undefined;
  readonly modes?: readonly string[] | undefined;
  readonly interactive?: boolean | undefined;
  /** The rule in words, such as `a rule in FILE:12 denies it`. */
  readonly text: string;
  /** Where the rule is written, as FILE:LINE or the name of a setting. Absent for a built-in rule. */
  readonly at?: string | undefined;
  /** Whether `policy/remove` removes it: it is in a policy file of the user. */
  readonly isRemovable: boolean;
}

/** A saved yes. It holds until the tool's definition or the server's settings change. */
export interface ApprovalRow {
  readonly server: string;
  readonly tool: string;
  readonly client?: string | undefined;
  readonly workspace?: string | undefined;
  readonly approvedAt: string;
}

/** A rule to write into the user's policy file. Names are patterns (`*`, `?`) if `isPattern`, and exact otherwise. */
export interface NewRule {
  readonly decision: DecisionLine["decision"];
  readonly server: string;
  /** `*` for all. */
  readonly tool: string;
  readonly isPattern?: boolean | undefined;
  readonly kind?: CallRow["kind"] | undefined;
  readonly client?: string | undefined;
  readonly argsPattern?: string | undefined;
  /** Only tools whose servers claim that they change nothing. */
  readonly readOnly?: boolean | undefined;
}

/** Reads and writes rules. A `policy` event tells of each change. */
export interface PolicyCommands {
  "policy/list": {
    params: Record<string, never>;
    result: {
      /** Strongest first. */
      readonly rules: readonly RuleRow[];
      readonly approvals: readonly ApprovalRow[];
      readonly files: readonly { readonly file: string; readonly tier: RuleRow["tier"]; readonly state: string }[];
      readonly problems: readonly { readonly message: string; readonly next?: string | undefined }[];
    };
  };
  /** The decision about one request, with every rule that matches it. Without `args`, rules about arguments do not apply. */
  "policy/explain": {
    params: {
      readonly server: string;
      readonly tool: string;
      readonly kind?: CallRow["kind"] | undefined;
      readonly args?: JsonObject | undefined;
      /** Who sends the request. Default: a model. */
      readonly who?: "model" | "user" | "client" | undefined;
      readonly client?: string | undefined;
    };
    result: DecisionLine & {
      /** The rule that would decide without the one that decides. */
      readonly otherwise?: RuleRow | undefined;
      /** Strongest first; the first one decides unless circumstances change that. */
      readonly matching: readonly RuleRow[];
      readonly isChanged: boolean;
      /** Why `"trust": true` of the server has no effect. */
      readonly trust?: string | undefined;
      /** Why the decision may be about an earlier definition. */
      readonly outdated?: string | undefined;
    };
  };
  /** What would change if the rule were written: the decisions about models' calls of the listed tools. */
  "policy/preview": {
    params: NewRule;
    result: {
      readonly changes: readonly {
        readonly server: string;
        readonly tool: string;
        readonly before: DecisionLine["decision"];
        readonly after: DecisionLine["decision"];
      }[];
      /** How many listed tools the rule is about. */
      readonly matching: number;
    };
  };
  "policy/add": {
    params: NewRule;
    result: {
      /** FILE:LINE. */
      readonly at: string;
      /** The decision that the rule had before, if there was one about the same requests. */
      readonly replaced?: string | undefined;
      /** Stronger rules that decide in place of the new one. */
      readonly overruled: readonly { readonly server: string; readonly tool: string; readonly rule: RuleRow }[];
    };
  };
  /** Removes a rule from a policy file of the user, if it still is the one that the person has seen. */
  "policy/remove": { params: { readonly id: string }; result: Record<string, never> };
  /** Removes the saved approval of a tool. */
  "policy/forget": {
    params: { readonly server: string; readonly tool: string; readonly client?: string | undefined };
    result: { readonly removed: number };
  };
}
