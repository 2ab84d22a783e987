/**
 * The questions that the app asks the user, and their answers. Texts come from servers and are not yet safe to print.
 */

import type { ConsentRequest, SignInMessage } from "@fairlead/core/auth";
import type { ConfirmationChoice, ConfirmationView } from "@fairlead/core/policy";
import type { ElicitationAnswer } from "@fairlead/core/server";
import type { ConfiguredServer, ServerDefinition } from "@fairlead/core/settings";
import type { JsonObject } from "@fairlead/wire";

interface ApprovalRow {
  readonly server: ConfiguredServer;
  readonly definition: ServerDefinition;
  /** How the settings entry differs from the approved one. Absent if the user never approved it. */
  readonly changed?: string | undefined;
  /** The sandbox in which the program starts after the answer `sandboxed`, in words. Absent if it gets none. */
  readonly offered?: string | undefined;
}

/** The model's answer to a sampling request. The server has not received it yet. */
export interface SampledAnswer {
  readonly text: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** A question without its key, as the caller of `ask` describes it. */
export type Asked =
  | { readonly kind: "confirmation"; readonly view: ConfirmationView }
  | {
      readonly kind: "form";
      /** The server that asks the user, or that has the tool or prompt to run. */
      readonly serverName: string;
      /** The tool or prompt whose arguments the form asks for. */
      readonly toolName?: string;
      readonly message: string;
      readonly schema: JsonObject;
      /** `edit`: the user changes the arguments of a model's call. */
      readonly purpose: "elicitation" | "arguments" | "edit";
      /** Initial values of the fields. With `edit`, other fields are empty; otherwise they have the schema's defaults. */
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
  /** Without `answer`: may the server use the model? With `answer`: may the server have the model's answer? */
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
   * A running sign-in. `canPaste`: the user can paste the last address that the browser shows. With a device code, the
   * user can only stop the sign-in.
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
      /** Index of the option that is selected at first. Default: 0. */
      readonly selected?: number;
    };

/** A question with its key. The answer names the same key. */
export type UserQuestion = { readonly key: string } & Asked;
/** A question of one kind. */
export type QuestionOf<K extends Asked["kind"]> = Extract<UserQuestion, { readonly kind: K }>;

/** The type of the answer to each kind of question. */
export interface AnswersByKind {
  /** `edit`: the user wants to change the arguments. `because`: a no with its reason. */
  readonly confirmation: ConfirmationChoice | "edit" | { readonly because: string };
  readonly form: ElicitationAnswer;
  /** `open`: Fairlead opens the browser. `by_hand`: the user opens the address. */
  readonly url: "open" | "by_hand" | "decline" | "cancel";
  readonly sampling: boolean;
  /** `sandboxed`: yes, and programs whose entry says nothing start in a sandbox. */
  readonly trust: boolean | "sandboxed";
  /** The pasted text. Undefined if the user cancels the sign-in. */
  readonly sign_in: string | undefined;
  /** The client ID. Empty if the user enters none. */
  readonly client_id: string;
  /** Index in `options`. Undefined if the user chooses nothing. */
  readonly choice: number | undefined;
}

/** An answer with the kind of its question. */
export type QuestionAnswer = {
  readonly [K in Asked["kind"]]: { readonly kind: K; readonly value: AnswersByKind[K] };
}[Asked["kind"]];

/** The effect of a key in a dialog: a new state, or the answer. */
export type KeyStep<State, K extends Asked["kind"]> = { readonly state: State } | { readonly answer: AnswersByKind[K] };

/** The answers for questions that close without an answer of the user. Each one is a refusal. */
export const refusals: { readonly [K in Asked["kind"]]: Extract<QuestionAnswer, { readonly kind: K }> } = {
  confirmation: { kind: "confirmation", value: "no" },
  form: { kind: "form", value: { action: "cancel" } },
  url: { kind: "url", value: "cancel" },
  sampling: { kind: "sampling", value: false },
  trust: { kind: "trust", value: false },
  sign_in: { kind: "sign_in", value: undefined },
  client_id: { kind: "client_id", value: "" },
  choice: { kind: "choice", value: undefined },
};

/** The numbers of a title such as `(1 of 3)`. */
export interface QuestionNumber {
  readonly index: number;
  readonly total: number;
}
