/** The kinds of questions to the user, and their answers. The texts come from servers and are not yet safe to print. */

import type { ConsentRequest, SignInMessage } from "@fairlead/core/auth/browser/sign-in-ui";
import type { ElicitationAnswer } from "@fairlead/core/mcp/elicitation";
import type { ToolCallConfirmationDetails, ToolConfirmationOutcome } from "@fairlead/core/registry/confirmation";
import type { ConfiguredServer, ServerDefinition } from "@fairlead/core/settings/define/definition";
import type { JsonObject } from "@fairlead/wire";

interface ApprovalRow {
  readonly server: ConfiguredServer;
  readonly definition: ServerDefinition;
  /** Whether the user approved an earlier version of the server's settings entry. */
  readonly isChanged: boolean;
}

/** The model's answer to a sampling request. The server has not received it yet. */
export interface SampledAnswer {
  readonly text: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

export type Asked =
  | { readonly kind: "confirmation"; readonly details: ToolCallConfirmationDetails }
  | {
      readonly kind: "form";
      /** The server that asks, or the server of the tool that is called. */
      readonly serverName: string;
      /** The tool or prompt that receives the arguments. */
      readonly toolName?: string;
      readonly message: string;
      readonly schema: JsonObject;
      readonly purpose: "elicitation" | "arguments";
      /** Initial values of the fields. */
      readonly values?: JsonObject;
    }
  | {
      readonly kind: "url";
      readonly serverName: string;
      readonly message: string;
      readonly url: string;
      readonly purpose: "elicitation" | "sign_in";
      readonly consent?: ConsentRequest;
    }
  /** Asks whether the server may use the model or, with `answer`, whether the server may receive this answer. */
  | {
      readonly kind: "sampling";
      readonly serverName: string;
      readonly params: JsonObject;
      readonly model: string;
      readonly answer?: SampledAnswer;
    }
  | {
      readonly kind: "trust";
      readonly root: string;
      readonly servers: readonly ApprovalRow[];
      readonly approved: readonly string[];
    }
  /**
   * A sign-in. With a browser, the user can paste the last address that the browser shows. With a device code, the user
   * can only stop the sign-in.
   */
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

/** The answer type of each kind of question. */
export interface AnswersByKind {
  readonly confirmation: ToolConfirmationOutcome;
  readonly form: ElicitationAnswer;
  /** `open`: open the browser now; `by_hand`: the user opens the address. */
  readonly url: "open" | "by_hand" | "decline" | "cancel";
  readonly sampling: boolean;
  readonly trust: boolean;
  /** The pasted text. Undefined if the user cancels the sign-in. */
  readonly sign_in: string | undefined;
  /** The client ID. Empty if the user enters none. */
  readonly client_id: string;
  /** The index in `options`. Undefined if the user chooses no option. */
  readonly choice: number | undefined;
}

export type QuestionAnswer = {
  readonly [K in Asked["kind"]]: { readonly kind: K; readonly value: AnswersByKind[K] };
}[Asked["kind"]];

/** What a key does in a dialog: it changes the state, or it gives the answer. */
export type KeyStep<State, K extends Asked["kind"]> = { readonly state: State } | { readonly answer: AnswersByKind[K] };

/** The answer to a question that closes without one: always a refusal. */
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

/** The position of a question among the open questions, as in "1 of 3". */
export interface QuestionNumber {
  readonly index: number;
  readonly total: number;
}
