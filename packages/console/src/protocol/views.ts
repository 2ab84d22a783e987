import type { JsonObject } from "@fairlead/wire";

/** What a view uses a domain for: requests, scripts and images, frames of other pages, or as the base of addresses. */
export type DomainUse = "connect" | "load" | "frame" | "base";

export interface RefusedDomain {
  readonly domain: string;
  readonly why: string;
}

/** What a view wants to reach and use. */
export interface ViewWishes {
  readonly domains: Readonly<Record<DomainUse, readonly string[]>>;
  /** Domains that a view is never allowed. */
  readonly refused: readonly RefusedDomain[];
  /** Permissions that the view wants, such as `camera`. The console gives none. */
  readonly permissions: readonly string[];
}

/** Shows the views of tools (MCP Apps). */
export interface ViewCommands {
  /**
   * Begins to read the view of an ended call's tool. This is a request to the server, with the id `call`: its row and its
   * question arrive as events.
   */
  "views/read": { params: { readonly call: string; readonly of: string }; result: Record<string, never> };
  /** The view that was read. */
  "views/describe": {
    params: { readonly call: string };
    result: ViewWishes & {
      readonly server: string;
      readonly tool: string;
      readonly uri: string;
      /** The server's command or address, and where it is defined. */
      readonly command: string;
      readonly definedAt: string;
      readonly bytes: number;
      /** Whether a person must allow it first. */
      readonly needsYes: boolean;
      /** Whether another view of this address was allowed before. */
      readonly isChanged: boolean;
    };
  };
  /**
   * Shows the view that was read: the person has allowed it, or need not be asked. `frame` can be loaded once, within a
   * minute.
   */
  "views/show": {
    params: { readonly call: string };
    result: {
      readonly view: string;
      readonly frame: string;
      /** The tool as its server lists it. */
      readonly tool: JsonObject;
      readonly arguments: JsonObject;
      /** The result of the call. Absent if the call was cancelled or has failed. */
      readonly result?: JsonObject | undefined;
      readonly sandbox: JsonObject;
      readonly hasBorder: boolean;
    };
  };
  /**
   * Sends a request of a view to its server, on the same path as every other request. `tools/call` and `resources/read`
   * begin with the id `call`, and `views/answer` has their answer once they have ended. Lists are answered at once.
   */
  "views/send": {
    params: { readonly view: string; readonly call: string; readonly method: string; readonly params: JsonObject };
    result: { readonly result?: JsonObject | undefined };
  };
  "views/answer": {
    params: { readonly view: string; readonly call: string };
    result: {
      readonly result?: JsonObject | undefined;
      readonly error?: { readonly code: number; readonly message: string } | undefined;
    };
  };
  /** Ends a view: what it has begun is cancelled, and what was allowed while it is open ends. */
  "views/close": { params: { readonly view: string }; result: Record<string, never> };
}
