/**
 * Splits a typed message into text and references to resources and files. Does not read them, and sends nothing to a
 * server.
 */

import { HostError } from "../../errors.ts";
import { findMentions, type Mention } from "./find-mentions.ts";
import type { FindFile, LocalFile } from "./local-file.ts";
import {
  findResource,
  type ResourceAddress,
  type ResourceSource,
  toWishes,
  withScheme,
  writeMention,
} from "./resource-reference.ts";

/** A piece of a typed message. The `text` members of all pieces, joined, give the whole message. */
export type Piece = { readonly text: string } & (
  | { readonly kind: "text" }
  | ({ readonly kind: "resource" } & ResourceAddress)
  | LocalFile
  | { readonly kind: "unresolved"; readonly error: HostError }
);

/** The resources and files that references can name. */
export interface ReferenceSource extends ResourceSource {
  /** Finds files. If absent, references to files are not resolved. */
  readonly findFile?: FindFile;
}

const mostReferences = 64;
const mostMentions = 1000;

/**
 * Resolves the `@` references in a message that the user typed. Do not pass the text of files or results: an `@` in
 * them is not a reference.
 */
export async function resolveReferences(typed: string, source: ReferenceSource): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  let mentions = 0;
  const references = new Set<string>();
  for (const part of findMentions(typed)) {
    mentions += part.kind === "mention" ? 1 : 0;
    const piece = mentions > mostMentions ? asText(part) : await resolve(part, source);
    // A repeated reference is read once, so it counts once towards the limit.
    if (piece.kind !== "text") references.add(piece.text);
    pieces.push(references.size > mostReferences && piece.kind !== "text" ? tooMany(piece) : piece);
  }
  return pieces;
}

/** Returns the servers that a message names. Fairlead reads their catalogs before it resolves the references. */
export function serversNamedIn(typed: string, servers: readonly string[]): readonly string[] {
  const targets = findMentions(typed).flatMap((part) => (part.kind === "mention" ? [part.target] : []));
  return servers.filter((server) => targets.some((target) => toWishes(target, [server]).length > 0));
}

async function resolve(part: Mention, source: ReferenceSource): Promise<Piece> {
  if (part.kind === "text") return part;
  const { text, target, isQuoted } = part;
  const resource = findResource(target, source);
  if (resource.kind === "resource" && isTemplate(resource, source))
    return unresolved(text, `${resource.uri} is a template of "${resource.server}": write values in place of its {…}`);
  if (resource.kind !== "other") return { text, ...resource };
  const isExplicit = isQuoted || /^[.]{1,2}[\\/]|[.][A-Za-z][A-Za-z0-9]{0,7}$/.test(target);
  // A URI always means a resource, never a local file.
  const file = withScheme.test(target) ? undefined : await source.findFile?.(target);
  switch (file?.kind) {
    case "file":
    case "folder":
      return { text, ...file };
    case "refused":
      return unresolved(text, `${target} is not read: it ${file.reason}`);
    case "absent":
    case undefined: {
      if (!isExplicit && file?.near === undefined) return asText(part);
      const near = file?.near === undefined ? "" : `; did you mean ${writeMention(file.near)}?`;
      return unresolved(text, `there is no resource and no file "${target}"${near}`);
    }
  }
}

/** Whether the URI is a template whose variables have no values yet. */
function isTemplate({ server, uri }: ResourceAddress, { resources }: ReferenceSource): boolean {
  return /[{}]/.test(uri) && !resources.getResourcesByServer(server).some((listed) => listed.uri === uri);
}

function asText({ text }: Mention): Piece {
  return { kind: "text", text };
}

function tooMany({ text }: Piece): Piece {
  return unresolved(text, `${text} is not read: a message may have at most ${mostReferences} references`);
}

function unresolved(text: string, message: string): Piece {
  return { kind: "unresolved", text, error: new HostError("usage", message) };
}
