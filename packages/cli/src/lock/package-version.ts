/** Returns a server's version: the exact version in its entry, or else the version that it reports. */

import type { Peer } from "@fairlead/core/events";
import type { ServerDefinition } from "@fairlead/core/settings/define/definition";
import { clip } from "@fairlead/wire/text";
import { type Download, findDownload } from "../output/servers/server-notes.ts";

const sources: Readonly<Record<Download["from"], string>> = {
  npm: "npm",
  PyPI: "pypi",
  "an image registry": "image",
};
const longest = 200;

export function packageVersion({ transport }: Pick<ServerDefinition, "transport">, { serverInfo }: Peer): string {
  const download = transport.kind === "stdio" ? findDownload(transport.command, transport.args) : undefined;
  if (download?.pinned) return `${sources[download.from]}:${download.name}`;
  return clip(`reported:${serverInfo.name}@${serverInfo.version}`, longest);
}
