import type { ShownDifference } from "./rows.ts";

/** A label with its values, such as `command`. Secrets are hidden. */
export interface ServerField {
  readonly label: string;
  readonly values: readonly string[];
}

/** One server in full. */
export interface ServerDetail {
  readonly name: string;
  /** Where the definition is written, as FILE:LINE. */
  readonly definedAt: string;
  readonly fields: readonly ServerField[];
  readonly instructions?: string | undefined;
  readonly notes: readonly string[];
  readonly prompts: readonly { readonly name: string; readonly description?: string | undefined }[];
  readonly changes: readonly ChangedDefinition[];
  /** Identifies the definition, for its approval. Absent for an invalid entry, and for the demo server. */
  readonly fingerprint?: string | undefined;
  /** Absent if Fairlead starts no program for the server. */
  readonly sandbox?: ServerSandbox | undefined;
}

/** What a server's program has in its sandbox. */
export interface ServerSandbox {
  /** False: the program runs with all rights of the user. */
  readonly isOn: boolean;
  readonly fields: readonly ServerField[];
  /** The hosts that it wanted since it started, and did not reach. */
  readonly refused: readonly { readonly host: string; readonly reason: string; readonly mayAllow: boolean }[];
}

/** A tool or prompt that differs from its accepted or locked definition. */
export interface ChangedDefinition {
  readonly kind: "tool" | "prompt";
  /** The server's own name. */
  readonly name: string;
  /** Identifies the new definition, to accept it. Absent for a prompt: only `fairlead lock update` accepts it. */
  readonly digest?: string | undefined;
  readonly differences: readonly ShownDifference[];
}

/** Reads and controls servers. Their states arrive as events. */
export interface ServerCommands {
  "servers/show": { params: { readonly server: string }; result: ServerDetail };
  /** The last lines of the server's log file. */
  "servers/log": {
    params: { readonly server: string; readonly lines?: number | undefined };
    result: { readonly file: string; readonly lines: readonly string[] };
  };
  "servers/start": { params: { readonly servers: readonly string[] }; result: Record<string, never> };
  "servers/restart": { params: { readonly servers: readonly string[] }; result: Record<string, never> };
  "servers/stop": { params: { readonly servers: readonly string[] }; result: Record<string, never> };
  /** Reads the lists again. */
  "servers/refresh": { params: { readonly server: string }; result: Record<string, never> };
  /** Enables or disables the server in the settings. */
  "servers/enable": {
    params: { readonly server: string; readonly isEnabled: boolean };
    result: Record<string, never>;
  };
  /** Approves a workspace's server, if its definition still has the fingerprint that the person has seen. */
  "servers/approve": {
    params: { readonly server: string; readonly fingerprint: string };
    result: Record<string, never>;
  };
  /** Lets the server reach a refused host from its sandbox, if its definition still has the fingerprint. */
  "servers/allowHost": {
    params: { readonly server: string; readonly host: string; readonly fingerprint: string };
    result: Record<string, never>;
  };
  /** Begins a sign-in. The address arrives as a question. */
  "servers/signIn": { params: { readonly server: string }; result: Record<string, never> };
  /** Accepts changed definitions of tools, each if it still has the digest that the person has seen. */
  "servers/accept": {
    params: {
      readonly server: string;
      readonly tools: readonly { readonly name: string; readonly digest: string }[];
    };
    result: Record<string, never>;
  };
  /** Connects the server apart, and says what each step found, as `fairlead mcp test` does. */
  "servers/test": {
    params: { readonly server: string };
    result: {
      readonly steps: readonly {
        /** Such as `handshake` or `tools/list`; the last one is `result`. */
        readonly label: string;
        readonly isOk: boolean;
        readonly text: string;
        readonly milliseconds?: number | undefined;
      }[];
    };
  };
}
