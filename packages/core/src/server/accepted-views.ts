/**
 * Which views of one server's tools the user has accepted. The view of a tool is part of the tool: its page and its
 * metadata are compared with the first ones that were read. They are stored by the tool, not by their address, so that a
 * server cannot replace a view by giving it another address.
 */

import { hash } from "node:crypto";
import type { JsonObject } from "@fairlead/wire";
import { listOf, member, objectOf } from "@fairlead/wire/json";
import type { ChangedDefinition } from "../policy/decide.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { sizeWords } from "../text/size-words.ts";
import type { AcceptedTools } from "./accepted-tools.ts";
import type { Difference } from "./tool-changes.ts";

/** A view as a server has sent it. */
export interface View {
  /** Identifies the page, its MIME type, and the domains and permissions that it wants. */
  readonly digest: string;
  /** The page's text, or its Base64 form. */
  readonly page: string;
  /** The MIME type and `_meta.ui`. */
  readonly metadata: JsonObject;
}

/**
 * Reads the view in a result of `resources/read`.
 *
 * @param listed The resource as the server lists it. Its `_meta.ui` counts if the result has none.
 */
export function viewIn(result: JsonObject, listed?: object): View {
  const contents = listOf(result["contents"]).map(objectOf);
  // A program may show the text or the Base64 form, so both belong to the page.
  const texts = contents.flatMap(({ text, blob }) => [toText(text), toText(blob)]);
  const page = texts.join("");
  const [metadata = {}, ...others] = contents.map((part) => metadataOf(part, listed));
  const lengths = texts.map((text) => text.length);
  const digest = hash("sha256", `${canonicalJson([metadata, others, lengths])}\n${page}`, "hex");
  return { digest, page, metadata };
}

function toText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : canonicalJson(value);
}

function metadataOf(part: JsonObject, listed: object | undefined): JsonObject {
  const ui = member(part["_meta"], "ui") ?? member(member(listed, "_meta"), "ui");
  return { mimeType: part["mimeType"] ?? null, ui: ui ?? null };
}

/** The accepted view is kept for the difference if its page has at most so many characters. */
const mostCharacters = 1_048_576;
/** Maximum number of accepted views of one server that are kept for differences. */
const mostKept = 16;
/** Maximum number of characters of each part of a difference. */
const mostShown = 2000;

/** The views of one server. The digests are stored with the accepted definitions of its tools. */
export class AcceptedViews {
  readonly #digests: AcceptedTools;
  /** Accepted views of this run, by tool, oldest first. */
  readonly #kept = new Map<string, View>();

  constructor(digests: AcceptedTools) {
    this.#digests = digests;
  }

  /** Accepts the views of tools that had none before. Returns whether there were such tools. */
  meet(tools: readonly string[], view: View): boolean {
    const isNew = tools.filter((tool) => this.#digests.acceptFirst(nameOf(tool), view.digest)).length > 0;
    for (const tool of tools) if (this.#digests.isAccepted(nameOf(tool), view.digest)) this.#keep(tool, view);
    return isNew;
  }

  /** How a view differs from the accepted view of one of these tools; undefined if it does not. */
  changeOf(tools: readonly string[], view: View): ChangedDefinition | undefined {
    const changed = tools.find((tool) => !this.#digests.isAccepted(nameOf(tool), view.digest));
    if (changed === undefined) return undefined;
    return { difference: () => differenceOf(this.#kept.get(changed), view) };
  }

  accept(tools: readonly string[], view: View): void {
    for (const tool of tools) {
      this.#digests.acceptDigest(nameOf(tool), view.digest);
      this.#keep(tool, view);
    }
  }

  /** Whether the user has allowed to show this very view, with its page, its domains and its permissions. */
  mayShow(uri: string, { digest }: View): boolean {
    return this.#digests.isAccepted(shownNameOf(uri), digest);
  }

  /** Whether the user has allowed to show a view of this address before. */
  hasShown(uri: string): boolean {
    return this.#digests.of(shownNameOf(uri)) !== undefined;
  }

  allowShow(uri: string, { digest }: View): void {
    this.#digests.acceptDigest(shownNameOf(uri), digest);
  }

  #keep(tool: string, view: View): void {
    this.#kept.delete(tool);
    if (view.page.length <= mostCharacters) this.#kept.set(tool, view);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** The name under which the digests of a tool's view are stored. No tool of a careful server has such a name. */
function nameOf(tool: string): string {
  return `view\0${tool}`;
}

/** The name under which the digests of the views that the user allowed to show are stored. */
function shownNameOf(uri: string): string {
  return `shown\0${uri}`;
}

function differenceOf(before: View | undefined, after: View): readonly Difference[] {
  return [...metadataDifference(before?.metadata, after.metadata), ...pageDifference(before?.page, after.page)];
}

function metadataDifference(before: JsonObject | undefined, after: JsonObject): readonly Difference[] {
  return Object.keys(after).flatMap((name) => {
    const [was, is] = [before?.[name], after[name]];
    if (before !== undefined && canonicalJson(was) === canonicalJson(is)) return [];
    return [{ member: `view.${name}`, before: before && shown(was), after: shown(is) }];
  });
}

function shown(value: unknown): string {
  return clipped(value === null ? "none" : toText(value));
}

/** Shows the part of the page that differs, without what both begin and end with. */
function pageDifference(before: string | undefined, after: string): readonly Difference[] {
  if (before === after) return [];
  const size = { member: "view.size", before: before && sizeWords(before.length), after: sizeWords(after.length) };
  if (before === undefined) return [size, { member: "view.page", after: clipped(after) }];
  const start = sameStart(before, after, Math.min(before.length, after.length));
  const left = Math.min(before.length, after.length) - start;
  const end = sameStart(before, after, left, (text, at) => text.charAt(text.length - 1 - at));
  const part = (text: string): string => clipped(text.slice(start, text.length - end));
  return [size, { member: "view.page", before: part(before), after: part(after) }];
}

function sameStart(
  one: string,
  other: string,
  most: number,
  charAt: (text: string, at: number) => string = (text, at) => text.charAt(at),
): number {
  let at = 0;
  while (at < most && charAt(one, at) === charAt(other, at)) at += 1;
  return at;
}

function clipped(text: string): string {
  return text.length <= mostShown ? text : `${text.slice(0, mostShown)}… (${sizeWords(text.length)})`;
}
