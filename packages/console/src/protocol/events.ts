/** The events of the console's stream. Each has a running number, so that a page that reconnects misses and repeats none. */

import type { JsonObject } from "@fairlead/wire";
import type { CallRow, FrameHead, Question, ServerRow } from "./rows.ts";

/** What the page shows of the host as a whole. */
export interface About {
  readonly version: string;
  readonly workspace: { readonly root: string; readonly isTrusted: boolean; readonly why: string };
  /** The configured model, once a conversation has used it. */
  readonly model?: string | undefined;
  /** Problems in settings and policy files, one line each. */
  readonly problems: readonly string[];
}

/** Everything that the page shows without asking for it. */
export interface Snapshot extends About {
  /** When the server made this snapshot, by its clock: the page shows ages relative to it. */
  readonly now: number;
  /** In the order of the settings. */
  readonly servers: readonly ServerRow[];
  readonly questions: readonly Question[];
  /** The latest calls, newest first. */
  readonly calls: readonly CallRow[];
}

export type ConsoleEvent =
  /** The first event of a stream that cannot resume. `isReset`: events were lost, so the page drops what it shows. */
  | { readonly type: "snapshot"; readonly isReset: boolean; readonly snapshot: Snapshot }
  | { readonly type: "about"; readonly about: About }
  /** All servers, after the settings have changed. */
  | { readonly type: "servers"; readonly servers: readonly ServerRow[] }
  | { readonly type: "server"; readonly server: ServerRow }
  /** A call has begun, changed or ended. */
  | { readonly type: "call"; readonly call: CallRow }
  | { readonly type: "question"; readonly question: Question }
  /** A question was answered, withdrawn or has expired. `by`: where, such as `the app`; absent if no answer came. */
  | {
      readonly type: "answered";
      readonly id: string;
      readonly by?: string | undefined;
      readonly answer?: string | undefined;
    }
  /** In a flood, heads are left out: `traffic/list` has those between two ids. */
  | { readonly type: "frames"; readonly frames: readonly FrameHead[] }
  /** A line of a server's stderr or log. */
  | { readonly type: "log"; readonly server: string; readonly at: number; readonly line: string }
  /** The lists of a server have changed: what the page has read of them is out of date. */
  | { readonly type: "catalog"; readonly server: string }
  /** Rules, approvals or accepted definitions have changed. */
  | { readonly type: "policy" }
  /** The browser has stopped a view (MCP Apps): `directive` of its content security policy, and what was blocked. */
  | { readonly type: "view_stopped"; readonly view: string; readonly directive: string; readonly blocked: string }
  /** `number` counts the events of this conversation. The event `reload` says that another program has continued it. */
  | { readonly type: "turn"; readonly conversation: string; readonly number: number; readonly event: JsonObject }
  | { readonly type: "note"; readonly text: string };

/** An event with its running number, as the stream's `id`. */
export interface NumberedEvent {
  readonly id: number;
  readonly event: ConsoleEvent;
}
