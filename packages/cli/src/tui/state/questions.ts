/** What a person is asked, one question after the other, and what they may answer. Texts are servers' own: raw. */

import type { ConsentRequest, SignInMessage } from "@fairlead/core/auth/browser/sign-in-ui";
import type { ElicitationAnswer } from "@fairlead/core/mcp/elicitation";
import type { ToolCallConfirmationDetails, ToolConfirmationOutcome } from "@fairlead/core/registry/confirmation";
import type { ConfiguredServer, ServerDefinition } from "@fairlead/core/settings/define/definition";
import type { JsonObject } from "@fairlead/wire";

/** A server of the workspace that waits for approval; to be shown whole. */
interface ApprovalRow {
  readonly server: ConfiguredServer;
  readonly definition: ServerDefinition;
  /** It was approved before, as something else. */
  readonly isChanged: boolean;
}

/** What the person's model answered for a server, before the server gets it. */
export interface SampledAnswer {
  readonly text: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

export type Asked =
  | { readonly kind: "confirmation"; readonly details: ToolCallConfirmationDetails }
  | {
      readonly kind: "form";
      /** Who asks; of a form for arguments, whose tool it is. */
      readonly serverName: string;
      /** Whose arguments they are: a tool's or a prompt's. */
      readonly toolName?: string;
      readonly message: string;
      readonly schema: JsonObject;
      readonly purpose: "elicitation" | "arguments";
      /** What is known already. */
      readonly values?: JsonObject;
    }
  | {
      readonly kind: "url";
      readonly serverName: string;
      readonly message: string;
      readonly url: string;
      readonly purpose: "elicitation" | "sign_in";
      /** Of a sign-in: where, and what for. */
      readonly consent?: ConsentRequest;
    }
  /** Without an answer: may the model be asked? With one: may the server have it? */
  | {
      readonly kind: "sampling";
      readonly serverName: string;
      readonly params: JsonObject;
      readonly model: string;
      readonly answer?: SampledAnswer;
    }
  | { readonly kind: "trust"; readonly root: string; readonly servers: readonly ApprovalRow[] }
  /** A sign-in that goes on elsewhere; the address at which the browser ended can be pasted while it does. */
  | {
      readonly kind: "sign_in";
      readonly serverName: string;
      readonly messages: readonly SignInMessage[];
      readonly canPaste: boolean;
    }
  | { readonly kind: "client_id"; readonly serverName: string; readonly issuer: string; readonly redirectUri: string }
  | {
      readonly kind: "choice";
      readonly serverName: string;
      readonly message: string;
      readonly options: readonly string[];
    };

export type UserQuestion = { readonly key: string } & Asked;
export type QuestionOf<K extends Asked["kind"]> = Extract<UserQuestion, { readonly kind: K }>;

/** The answers to each kind. What is closed without an answer gets the one in `refusals`. */
export interface AnswersByKind {
  readonly confirmation: ToolConfirmationOutcome;
  readonly form: ElicitationAnswer;
  /** `open`: in the browser, now; `by_hand`: the person opens it themselves. */
  readonly url: "open" | "by_hand" | "decline" | "cancel";
  readonly sampling: boolean;
  readonly trust: boolean;
  /** What was pasted; undefined ends the sign-in. */
  readonly sign_in: string | undefined;
  /** Empty: none. */
  readonly client_id: string;
  /** The place in `options`; undefined: none of them. */
  readonly choice: number | undefined;
}

export type QuestionAnswer = {
  readonly [K in Asked["kind"]]: { readonly kind: K; readonly value: AnswersByKind[K] };
}[Asked["kind"]];

/** What a key does to a dialog: it goes on, or it is answered. */
export type KeyStep<State, K extends Asked["kind"]> = { readonly state: State } | { readonly answer: AnswersByKind[K] };

/** What no answer means: always no. */
export const refusals: { readonly [K in Asked["kind"]]: Extract<QuestionAnswer, { readonly kind: K }> } = {
  confirmation: { kind: "confirmation", value: "cancel" },
  form: { kind: "form", value: { action: "cancel" } },
  url: { kind: "url", value: "cancel" },
  sampling: { kind: "sampling", value: false },
  trust: { kind: "trust", value: false },
  sign_in: { kind: "sign_in", value: undefined },
  client_id: { kind: "client_id", value: "" },
  choice: { kind: "choice", value: undefined },
};

/** Where a question stands among those that are open: "1 of 3". */
export interface QuestionNumber {
  readonly index: number;
  readonly total: number;
}
