/** Checks whether servers that are downloaded at start have an exact version. Pure. */

import type { ServerDefinition } from "@fairlead/core/settings/define/definition";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { findDownload } from "../output/servers/server-notes.ts";
import { hideInWords } from "../output/servers/server-redaction.ts";
import { note, type Observation, ok, warning } from "./finding.ts";

export function checkPackages(definitions: readonly ServerDefinition[]): readonly Observation[] {
  const fetched = definitions.flatMap(({ name: server, transport }) => {
    const download = transport.kind === "stdio" ? findDownload(transport.command, transport.args) : undefined;
    return download ? [{ server, ...download, name: hideInWords(download.name) }] : [];
  });
  const pinned = fetched.filter((one) => one.pinned);
  return [
    ...(fetched.length === 0 ? [nothingFetched] : []),
    ...(pinned.length === 0 ? [] : [pinnedLine(pinned)]),
    ...fetched.filter((one) => !one.pinned).map(unpinned),
  ];
}

const nothingFetched: Observation = ok("no server is downloaded at start");

interface Fetched {
  readonly server: string;
  readonly name: string;
  readonly from: string;
}

function pinnedLine(pinned: readonly Fetched[]): Observation {
  const words = pinned.map(({ server, name }) => `${name} (${server})`);
  return ok(`exact version: ${words.join(", ")}`);
}

function unpinned({ server, name, from }: Fetched): Observation {
  const next = `fairlead mcp pin ${toShellWord(server)}`;
  // A named tag rarely moves, so this is only a note; "latest" moves with every release.
  if (/:(?!latest$)[\w.-]+$/.test(name))
    return { ...note(`"${server}" runs the image ${name}: its tag can be moved to another image`, next), server };
  const message = `"${server}" runs ${name} from ${from} without an exact version: it may change at any time`;
  return { ...warning(message, next), server };
}
