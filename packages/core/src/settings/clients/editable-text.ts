/**
 * The interface between a client's settings and their syntax (JSON or TOML): the values that were read, and the edits.
 */

import type { HostError } from "../../errors.ts";
import type { Position } from "../../files/json/jsonc.ts";
import type { ClientName, ForeignEntry } from "./client.ts";

/** A server in a client's file. Line and column count from 1. */
export interface ServerInText extends Position {
  readonly value: unknown;
}

/** The edits that the module for each syntax provides. Each edit returns the new text. */
export interface EditableText {
  /** All values of the file. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly servers: ReadonlyMap<string, ServerInText>;
  set(name: string, entry: ForeignEntry): string;
  remove(name: string): string;
  /** Removes the object that holds the servers, if it is empty. */
  removeEmpty(): string;
  /** Copies a server from another text of the same client. */
  copy(from: EditableText, name: string): string;
  /**
   * The text of one server as written, which `copy` inserts. Undefined for JSON: there, `copy` writes the server's
   * value.
   */
  sourceOf(name: string): string | undefined;
}

/** Creates the error for a mistake at this position of a client's text. */
export type RefuseText = (message: string, place: Position, cause?: unknown) => HostError;

/** The client whose text is read, and the function that creates the errors. */
export interface TextContext {
  readonly client: ClientName;
  readonly refuse: RefuseText;
}
