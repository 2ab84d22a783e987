import type { ServerField } from "./servers.ts";

/** A server of an MCP registry. All texts are its publisher's. */
export interface PublishedRow {
  /** Namespace and name, such as `io.github.acme/weather`. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly publishedAt?: number | undefined;
  /** How it can be used: `npm`, `oci`, `remote` and so on. */
  readonly kinds: readonly string[];
  readonly status: "active" | "deprecated" | "deleted";
  readonly statusMessage?: string | undefined;
  /** The address or path of its registry. */
  readonly registry: string;
}

/** A registry that cannot be reached. `age`: milliseconds since the answer that is shown instead; absent: there is none. */
export interface UnreachedRegistry {
  readonly registry: string;
  readonly why: string;
  readonly age?: number | undefined;
}

/** One way to use a server. */
export interface PublishedWay {
  readonly kind: string;
  /** The package with its version, or the address. */
  readonly label: string;
  readonly runs: "program" | "container" | "remote";
  /** Why the page cannot add it in this way. Absent: it can. */
  readonly unusable?: string | undefined;
}

/** A value that a server needs. */
export interface PublishedInput {
  readonly name: string;
  readonly description?: string | undefined;
  readonly kind: "text" | "number" | "boolean" | "file" | "choice";
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  /** The value goes to the secret store, and never back to the page. */
  readonly isSecret: boolean;
  readonly isRepeated: boolean;
  readonly default?: string | undefined;
  readonly placeholder?: string | undefined;
}

/** Whether the package names the server. `none`: there is no package. */
export interface ShownProof {
  readonly kind: "proven" | "unproven" | "mismatch" | "none";
  readonly text: string;
}

/** One version of a server, with one way to use it. */
export interface FoundPublished {
  /** Names this answer in `add/plan`. */
  readonly offerId: string;
  readonly server: PublishedRow;
  readonly repository?: string | undefined;
  readonly website?: string | undefined;
  /** All versions, newest first as the registry lists them. Deleted ones are not among them. */
  readonly versions: readonly string[];
  readonly unreached?: UnreachedRegistry | undefined;
  readonly ways: readonly PublishedWay[];
  /** The position of the way that the following is about. Absent: no way can be used. */
  readonly way?: number | undefined;
  readonly proof: ShownProof;
  readonly inputs: readonly PublishedInput[];
  /** Why this machine cannot run it in a sandbox, and what helps. */
  readonly unboxable?: { readonly why: string; readonly next: string } | undefined;
  /** The name for the settings, unless the person chooses another. */
  readonly name: string;
  /** Where the entry can be written; the first is the usual one. */
  readonly scopes: readonly ("project" | "user")[];
}

/** What the person has chosen. */
export interface AddChoices {
  readonly name: string;
  readonly scope: "project" | "user";
  /** Values by the names of inputs. */
  readonly inputs: Readonly<Record<string, readonly string[]>>;
  /** `write`: it may also change the files that the inputs name. Counts for programs alone. */
  readonly sandbox: "read" | "write" | "off";
}

/** What the server's entry will be, exactly. */
export interface PlannedPublished {
  /** Names this plan in `add/write`. A plan is written once. */
  readonly plan: string;
  readonly name: string;
  readonly fields: readonly ServerField[];
  /** Whether the person must say that the package is unproven. */
  readonly isUnproven: boolean;
  /** Whether the person must say that it runs without a sandbox. */
  readonly isUnboxed: boolean;
}

/** A server that was added. */
export interface AddedPublished {
  readonly name: string;
  readonly file: string;
  readonly scope: string;
  /** The command that undoes it. */
  readonly undo?: string | undefined;
  /** Whether the server may start: its folder is trusted and it is approved. */
  readonly mayStart: boolean;
  /** What else was done or is missing, such as the folder's trust. */
  readonly notes: readonly string[];
}

/** Finds servers in MCP registries and adds them, by the steps of `fairlead mcp search` and `fairlead mcp add NAME`. */
export interface AddingCommands {
  "add/search": {
    params: { readonly words: string; readonly cursor?: string | undefined };
    result: {
      readonly servers: readonly PublishedRow[];
      /** The registries that were searched, in their order. */
      readonly registries: readonly string[];
      readonly unreached: readonly UnreachedRegistry[];
      /** Servers whose description Fairlead does not read. */
      readonly refused: number;
      readonly nextCursor?: string | undefined;
    };
  };
  /** Reads metadata only. */
  "add/find": {
    params: {
      readonly name: string;
      readonly version?: string | undefined;
      readonly registry?: string | undefined;
      /** The position of the way to use it. Default: the first that can be used. */
      readonly way?: number | undefined;
    };
    result: FoundPublished;
  };
  "add/plan": { params: AddChoices & { readonly offerId: string }; result: PlannedPublished };
  /** Adds exactly what was planned. `confirmed`: what the person has said besides yes. */
  "add/write": {
    params: { readonly plan: string; readonly confirmed: readonly ("unproven" | "unboxed")[] };
    result: AddedPublished;
  };
}
