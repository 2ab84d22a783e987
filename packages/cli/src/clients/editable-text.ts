/** The interface for reading and editing a client's settings, whatever their syntax. */

import type { HostError } from "@fairlead/core/errors";
import type { Position } from "@fairlead/core/files";
import type { ClientName, ForeignEntry } from "./client.ts";

/** A server in a client's file. Line and column count from 1. */
export interface ServerInText extends Position {
  readonly value: unknown;
}

/** A client's settings text that can be edited. Each edit returns the new text. */
export interface EditableText {
  /** All settings in the text, as an object. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly servers: ReadonlyMap<string, ServerInText>;
  set(name: string, entry: ForeignEntry): string;
  remove(name: string): string;
  /** If the object that holds the servers is empty, removes it. */
  removeEmpty(): string;
  /** Copies a server from another settings text of the same client. */
  copy(from: EditableText, name: string): string;
  /** The source text of a server in TOML or YAML. Undefined for JSON. */
  sourceOf(name: string): string | undefined;
}

/** The client that the text belongs to, and the function that creates errors about the text. */
export interface TextContext {
  readonly client: ClientName;
  /** Creates the error for a mistake at this position of the text. */
  readonly refuse: (message: string, position: Position, cause?: unknown) => HostError;
}
