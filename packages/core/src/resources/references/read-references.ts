/** The contents of what a person refers to, behind their words: each under its source, marked as untrusted, and none able to lose the others. */

import type { Block, ResourceContents, ResourceResult } from "@fairlead/wire";
import { HostError } from "../../errors.ts";
import { unlessAborted } from "../../mcp/unless-aborted.ts";
import type { ContentLimits } from "../../normalise/content/fit.ts";
import { toMediaType } from "../../normalise/content/media-type.ts";
import { type Keep, keepAll } from "../../normalise/content/parts.ts";
import { toLabel } from "../../normalise/content/shorten.ts";
import { asUntrusted, createNonce } from "../../normalise/content/untrusted.ts";
import type { Part } from "../../normalise/model-types.ts";
import { type ContentRoom, createContentRoom } from "./content-room.ts";
import { readLocalFile } from "./read-local-file.ts";
import type { Piece } from "./references.ts";

export interface ReadReferencesOptions {
  /** Asks its server. Whether it may be asked is decided there: a refusal is told like any other failure. */
  readonly readResource: (server: string, uri: string, signal?: AbortSignal) => Promise<ResourceResult>;
  /** Where to put what the model does not get whole. */
  readonly keep?: Keep;
  readonly limits?: Partial<ContentLimits>;
  /** Of the tags round contents; drawn anew for each by default. */
  readonly nonce?: string;
  /** The person's: ends it all with `cancelled`. */
  readonly signal?: AbortSignal;
}

/** A reference in a typed message whose content could not be read. */
export interface ReferenceProblem {
  /** The reference as it was typed. */
  readonly text: string;
  readonly error: HostError;
}

/** A typed message with the contents of the resources and files that it refers to. */
export interface PromptContent {
  /** What was typed, then the contents. */
  readonly parts: readonly Part[];
  readonly problems: readonly ReferenceProblem[];
}

type Reference = Exclude<Piece, { readonly kind: "text" }>;
type Outcome = readonly Block[] | HostError;

/** At once; the others wait. */
const mostReads = 8;

export async function readReferences(pieces: readonly Piece[], options: ReadReferencesOptions): Promise<PromptContent> {
  const references = withoutRepeats(pieces);
  const reading = inTurns(references, mostReads, (reference) => read(reference, options));
  const outcomes = await unlessAborted(reading, options.signal, () => cancelled(references.length > 0));
  const room = createContentRoom(options.limits);
  const parts: Part[] = [{ text: pieces.map(({ text }) => text).join("") }];
  const problems: ReferenceProblem[] = [];
  for (const [index, reference] of references.entries()) {
    const outcome = outcomes[index] ?? [];
    if (outcome instanceof HostError) problems.push({ text: reference.text, error: outcome });
    parts.push(...(await present(reference, outcome, room, options)));
  }
  return { parts, problems };
}

/** Who refers to the same thing twice gets it once. */
function withoutRepeats(pieces: readonly Piece[]): readonly Reference[] {
  const references = new Map<string, Reference>();
  for (const piece of pieces) {
    if (piece.kind === "text") continue;
    const key =
      piece.kind === "resource" ? [piece.server, piece.uri] : "path" in piece ? [piece.path] : [0, piece.text];
    if (!references.has(JSON.stringify(key))) references.set(JSON.stringify(key), piece);
  }
  return [...references.values()];
}

async function read(reference: Reference, { readResource, signal }: ReadReferencesOptions): Promise<Outcome> {
  if (reference.kind === "unresolved") return reference.error;
  if (signal?.aborted) return cancelled();
  try {
    if (reference.kind !== "resource") return await readLocalFile(reference);
    const { contents } = await readResource(reference.server, reference.uri, signal);
    return contents.map((each) => contentsBlock(each, contents.length === 1));
  } catch (error) {
    if (error instanceof HostError) return error;
    return new HostError("internal", `${reference.text} could not be read`, { cause: error });
  }
}

/** What is alone needs no address: it is the one that was asked for. */
export function contentsBlock(contents: ResourceContents, isAlone: boolean): Block {
  const { text, blob, mimeType = "" } = contents;
  const type = toMediaType(mimeType);
  const kind = type.split("/", 1)[0];
  if (text !== undefined && isAlone) return { type: "text", text };
  if (blob !== undefined && type !== "image/svg+xml" && (kind === "image" || kind === "audio"))
    return { type: kind, data: blob, mimeType };
  return { type: "resource", resource: contents };
}

async function present(
  reference: Reference,
  outcome: Outcome,
  room: ContentRoom,
  { keep, nonce = createNonce() }: ReadReferencesOptions,
): Promise<readonly Part[]> {
  const { name, data } = sourceOf(reference);
  if (outcome instanceof HostError) {
    // What went wrong may be told in a server's own words; candidates are for the person.
    const why = reference.kind === "unresolved" ? [] : asUntrusted([{ text: toLabel(outcome.message) }], nonce, data);
    return [{ text: `[${name} could not be read, so that its content is missing here.]` }, ...why];
  }
  // An API may refuse a part without text.
  if (outcome.every((block) => block.type === "text" && block.text === "")) return [{ text: `[${name} is empty.]` }];
  const { parts, leftOut } = room.fit(outcome, "It");
  return [
    { text: `[Content of ${name}:]` },
    ...asUntrusted([...addressOf(reference), ...parts], nonce, data),
    ...(keep === undefined || reference.kind !== "resource" ? [] : await keepAll(leftOut, keep)),
  ];
}

/** In words of the person and their settings alone. */
function sourceOf(reference: Reference): { readonly name: string; readonly data: string } {
  const text = toLabel(reference.text);
  switch (reference.kind) {
    case "resource":
      return {
        name: `${text}, a resource of the MCP server "${toLabel(reference.server)}"`,
        data: "data from an MCP server",
      };
    case "file":
    case "folder":
      return { name: `${text}, a ${reference.kind} of the workspace`, data: `the content of a ${reference.kind}` };
    case "unresolved":
      return { name: text, data: "" };
  }
}

/** Where it is not what was typed; it is the server's, and may say anything. */
function addressOf(reference: Reference): readonly Part[] {
  if (reference.kind !== "resource" || reference.text.includes(reference.uri)) return [];
  return [{ text: `URI: ${toLabel(reference.uri)}` }];
}

async function inTurns<T, R>(items: readonly T[], most: number, work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}

function cancelled(hasReferences = true): HostError {
  return new HostError("cancelled", hasReferences ? "the references were not read: cancelled" : "cancelled");
}
