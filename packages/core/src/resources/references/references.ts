/**
 * Splits a typed message into text and references to resources and files. Does not read them, and sends nothing to a
 * server.
 */

import type { Block, ResourceContents, ResourceResult } from "@fairlead/wire";
import { HostError } from "../../errors.ts";
import { type ContentLimits, contentLimits, type Fitted, fitBlocks } from "../../normalise/content/fit.ts";
import { byteLength, toMediaType } from "../../normalise/content/media-type.ts";
import { type Keep, keepAll } from "../../normalise/content/parts.ts";
import { toLabel } from "../../normalise/content/shorten.ts";
import { asUntrusted, createNonce } from "../../normalise/content/untrusted.ts";
import type { Part } from "../../normalise/model-types.ts";
import { unlessAborted } from "../../unless-aborted.ts";
import { findMentions, type Mention } from "./find-mentions.ts";
import { type FindFile, type LocalFile, readLocalFile } from "./local-file.ts";
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

/** How to read resources, and how much of them the model gets. */
export interface ReadReferencesOptions {
  /** Reads a resource from its server if the policy allows this. A denial is reported like any other failure. */
  readonly readResource: (server: string, uri: string, signal?: AbortSignal) => Promise<ResourceResult>;
  /** Saves what the model does not get in full. */
  readonly keep?: Keep;
  readonly limits?: Partial<ContentLimits>;
  /** The random part of the tags that enclose untrusted content. Default: a new one for each reference. */
  readonly nonce?: string;
  /** The user's abort signal. When it is aborted, all reads end with `cancelled`. */
  readonly signal?: AbortSignal;
}

/** A reference whose content could not be read. */
export interface ReferenceProblem {
  /** The reference as it was typed. */
  readonly text: string;
  readonly error: HostError;
}

/** A typed message, with the resources and files that it refers to. */
export interface PromptContent {
  /** The typed text, then the content of each resource and file. */
  readonly parts: readonly Part[];
  readonly problems: readonly ReferenceProblem[];
}

type Reference = Exclude<Piece, { readonly kind: "text" }>;
type Outcome = readonly Block[] | HostError;

const mostReads = 8;

/**
 * Reads all references of a message. If a reference cannot be read, `problems` says why.
 *
 * @throws HostError `cancelled`
 */
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

/**
 * Converts one item of a resource's contents to a block for a model. If a text is the only item, its URI is left out,
 * because the message already contains the requested URI.
 */
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
    // Only the user gets the message about an unresolved reference, not the model.
    const why = reference.kind === "unresolved" ? [] : asUntrusted([{ text: toLabel(outcome.message) }], nonce, data);
    return [{ text: `[${name} could not be read, so its content is missing here.]` }, ...why];
  }
  // Replaces empty content by a sentence, because some APIs reject a part with empty text.
  if (outcome.every((block) => block.type === "text" && block.text === "")) return [{ text: `[${name} is empty.]` }];
  const { parts, leftOut } = room.fit(outcome, "It");
  return [
    { text: `[Content of ${name}:]` },
    ...asUntrusted([...addressOf(reference), ...parts], nonce, data),
    ...(keep === undefined || reference.kind !== "resource" ? [] : await keepAll(leftOut, keep)),
  ];
}

/**
 * Describes the source of a resource or file. Uses only text from the user and the settings, never text from the
 * server.
 */
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

/** The resource's URI, if the typed text does not contain it. The server chose the URI, so the URI is untrusted. */
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

/** The size limit for all resources and files of one typed message or one MCP prompt. */
interface ContentRoom {
  /**
   * Shortens blocks to the remaining limit. `giver` is the source of the blocks, which a note names if a block is left
   * out.
   */
  readonly fit: (blocks: readonly Block[], giver: string) => Fitted;
}

/** Creates a `ContentRoom`. Each resource or file uses up a part of the limit. */
export function createContentRoom(limits: Partial<ContentLimits> = {}): ContentRoom {
  let { partCharacters, totalCharacters, inlineBytes, blocks: most } = { ...contentLimits, ...limits };
  return {
    fit(blocks, giver) {
      const fitted = fitBlocks(blocks, giver, { partCharacters, totalCharacters, inlineBytes, blocks: most });
      for (const { text = "", inlineData } of fitted.parts) {
        totalCharacters -= text.length;
        inlineBytes -= byteLength(inlineData?.data ?? "");
      }
      most = Math.max(0, most - blocks.length);
      return fitted;
    },
  };
}
