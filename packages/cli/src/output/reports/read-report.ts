/** Prints the contents of a resource as text or as one JSON document, or saves them in files. */

import type { Host } from "@fairlead/core/host";
import type { ResourceAddress } from "@fairlead/core/resources/references/resource-reference";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { mediaOf, type ResultBlock } from "../../shell/content-block.ts";
import { nothingSaved, type SavePlace, saveAll } from "../../shell/save-media.ts";
import type { Context } from "../../shell/verb.ts";
import { type DisplayOptions, display } from "./display.ts";
import type { DrawImage } from "./inline-image.ts";

type Result = Awaited<ReturnType<Host["readResource"]>>;
type Contents = Result["contents"][number];

export interface ResourceReport {
  readonly address: ResourceAddress;
  readonly result: Result;
  /** Where to save the contents; undefined: print them. */
  readonly place: SavePlace | undefined;
  readonly draw: DrawImage | undefined;
}

export async function reportReading({ address, result, place, draw }: ResourceReport, context: Context): Promise<void> {
  const { out, globals } = context;
  const { contents, notes } = result;
  const blocks = place === undefined ? contents.map(toBlock) : contents.map(toFile);
  const { paths } = place === undefined ? nothingSaved : await saveAll(blocks, place, nameOf(address));
  if (globals.json)
    out.json({
      ...address,
      contents,
      ...(paths.size > 0 && { saved: [...paths.values()] }),
      ...(notes.length > 0 && { warnings: notes }),
    });
  else if (blocks.length > 0) out.print(textOf(contents, blocks, { paths, draw }, context));
  else out.say(safe`${toSafeLine(address.uri)} is empty`);
  for (const note of notes) out.warn(safe`warning: ${toSafeLine(note)}`);
  if (place === undefined && !globals.json && blocks.some(mediaOf))
    out.say(safe`next: add --save . to save it in a file`);
}

function toBlock(resource: Contents): ResultBlock {
  return { type: "resource", resource };
}

/** As bytes, because a saved text is written like any other file. */
function toFile({ uri, text, blob, mimeType }: Contents): ResultBlock {
  const type = mimeType ?? (text === undefined ? "application/octet-stream" : "text/plain");
  const bytes = blob ?? Buffer.from(text ?? "").toString("base64");
  return toBlock({ uri, mimeType: type, blob: bytes });
}

/** Several contents are printed under their URIs. */
function textOf(
  contents: readonly Contents[],
  blocks: readonly ResultBlock[],
  options: DisplayOptions,
  { out: { style } }: Context,
): SafeText {
  if (blocks.length === 1) return display(blocks, {}, options);
  const parts = blocks.map((block, at) => {
    const title = style.bold(toVisibleLine(contents[at]?.uri ?? ""));
    return safe`${title}\n${display([block], {}, options)}`;
  });
  return joinSafe(parts, safe`\n\n`);
}

/** The base of file names. */
function nameOf({ server, uri }: ResourceAddress): string {
  return uri.startsWith(`${server}:`) ? uri : `${server}:${uri}`;
}
