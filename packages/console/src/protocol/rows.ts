/**
 * What the page shows of servers, requests and questions. Texts are as servers, clients and files have written them:
 * the page makes them visible, and never uses them as HTML. Times are in milliseconds since 1970.
 */

import type { CatalogCounts, MCPServerStatus } from "@fairlead/core";
import type { JsonObject } from "@fairlead/wire";

/** A step that a button of the page can take, or a command to copy. */
export interface NextStep {
  readonly label: string;
  /** The command of the console that the button sends. */
  readonly action?: "start" | "restart" | "signIn" | "approve" | "enable" | "compare" | undefined;
  /** The same step as a command line. */
  readonly shell?: string | undefined;
  /** What the person does outside of the console, such as an edit of the settings. */
  readonly text?: string | undefined;
}

/** One server: its state with cause, what it offers, and how it is used. An absent figure is not known. */
export interface ServerRow {
  readonly name: string;
  readonly status: MCPServerStatus;
  /** Why the server is in this state, such as `backoff`, `lazy` or an error code. */
  readonly reason?: string | undefined;
  /** When the state began. Absent for a server that was not used since the host started. */
  readonly since?: number | undefined;
  readonly cause?: string | undefined;
  /** The end of stderr, or the first bytes of the response. */
  readonly evidence?: string | undefined;
  readonly nextTryAt?: number | undefined;
  readonly next?: NextStep | undefined;
  /** `unknown`: the entry in the settings is invalid. */
  readonly transport: "stdio" | "http" | "sse" | "built-in" | "unknown";
  readonly scope: string;
  readonly protocolVersion?: string | undefined;
  readonly counts?: CatalogCounts | undefined;
  /** Whether `counts` comes from the catalog cache. */
  readonly isCached: boolean;
  /** Estimated tokens of the tools that a model is offered. */
  readonly tokens?: number | undefined;
  /** Calls of the last 24 hours, in the history. */
  readonly calls: number;
  readonly lastError?: string | undefined;
  /** The median duration of the calls of the last 24 hours, in milliseconds. */
  readonly median?: number | undefined;
  /** How many tools and prompts differ from their accepted definitions. */
  readonly changed: number;
}

/** A request that this host runs or has run: of a client, a command, a conversation, a view or this console. */
export interface CallRow {
  readonly id: string;
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
  readonly server: string;
  readonly kind: "tool" | "resource" | "prompt" | "sampling" | "skill" | "host";
  readonly name: string;
  /** Who sends it: `console`, `model`, `view of SERVER`, or the client's name. */
  readonly from: string;
  readonly state: "asking" | "running" | "ok" | "error" | "denied" | "cancelled";
  readonly error?: { readonly code: string; readonly message: string; readonly next?: string } | undefined;
  readonly progress?: { readonly progress: number; readonly total?: number; readonly message?: string } | undefined;
}

/** A changed member of a definition, as `Difference` of core. */
export interface ShownDifference {
  readonly member: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

export interface Choice {
  readonly value: "no" | "once" | "conversation" | "server" | "always";
  /** What the answer allows, how long, and what it saves. */
  readonly text: string;
}

/** An address that a person is asked to open. */
export interface AskedAddress {
  /** As the server wrote it. */
  readonly url: string;
  /** What a press opens. Absent if Fairlead opens no such address: it opens https, and http on this machine. */
  readonly opens?: string | undefined;
}

/** A question that a person must answer. The first answer counts, wherever it is given. */
export type Question = {
  readonly id: string;
  readonly since: number;
  readonly deadline?: number | undefined;
  readonly server: string;
  /** The call of this console that waits for the answer. */
  readonly call?: string | undefined;
} & (
  | {
      /** A rule asks about a request. */
      readonly kind: "request";
      /** Who sends the request, such as `the program claude-code` or `this console`. */
      readonly from: string;
      readonly request: CallRow["kind"];
      /** False: the request no longer waits. The next identical request within ten minutes uses the answer, once. */
      readonly isAwaited: boolean;
      readonly verb: string;
      readonly name: string;
      readonly folder?: string | undefined;
      readonly description?: string | undefined;
      readonly hints?: string | undefined;
      /** What is suspicious in the definition: one line for each flag. */
      readonly flags?: string | undefined;
      /** The sandbox of the server's program, in words. */
      readonly sandbox?: string | undefined;
      readonly args: JsonObject;
      readonly isCut: boolean;
      readonly digest: string;
      readonly reason: string;
      readonly change?: readonly ShownDifference[] | undefined;
      readonly choices: readonly Choice[];
    }
  /** A server asks for values (elicitation). `schema` is flat. */
  | { readonly kind: "form"; readonly from: string; readonly message: string; readonly schema: JsonObject }
  /** A server asks the person to open an address (elicitation in URL mode). */
  | ({ readonly kind: "address"; readonly from: string; readonly message: string } & AskedAddress)
  /** A sign-in waits: the person opens the address, or pastes the one that the browser was redirected to. */
  | ({ readonly kind: "sign_in"; readonly takesPastedAddress: boolean } & AskedAddress)
);

/** An answer to a question. `because`: why not; a model reads it. */
export type Answer =
  | { readonly kind: "request"; readonly choice: Choice["value"]; readonly because?: string | undefined }
  | { readonly kind: "form"; readonly action: "accept"; readonly content: JsonObject }
  | { readonly kind: "form"; readonly action: "decline" | "cancel" }
  | { readonly kind: "address"; readonly action: "accept" | "decline" | "cancel" }
  | { readonly kind: "sign_in"; readonly pasted?: string | undefined; readonly action: "accept" | "cancel" };

/** One message between Fairlead and a server, without its body. */
export interface FrameHead {
  readonly id: number;
  readonly at: number;
  readonly server: string;
  /** `out`: to the server. */
  readonly direction: "out" | "in";
  readonly kind: "request" | "response" | "error" | "notification";
  readonly method?: string | undefined;
  /** The tool, prompt or resource that the request is about, or that the response is of. */
  readonly target?: string | undefined;
  /** The JSON-RPC id, and the frame of the request that a response answers. */
  readonly rpcId?: string | number | undefined;
  readonly answers?: number | undefined;
  /** The milliseconds from the request to this response. */
  readonly took?: number | undefined;
  readonly bytes: number;
  /** The call that the message belongs to, if it is known. */
  readonly call?: string | undefined;
}
