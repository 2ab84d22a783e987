/** `connect --link`: links with which VS Code and Cursor offer to add Fairlead. The program shows the entry and asks. */

import { ownEntryName } from "@fairlead/core/settings";
import type { ForeignEntry } from "./client.ts";

const installLinks = {
  vscode: (entry: ForeignEntry): string =>
    `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: ownEntryName, ...entry }))}`,
  cursor(entry: ForeignEntry): string {
    const config = Buffer.from(JSON.stringify(entry)).toString("base64");
    return `cursor://anysphere.cursor-deeplink/mcp/install?name=${ownEntryName}&config=${encodeURIComponent(config)}`;
  },
} as const;

/** A client that opens install links. */
export type LinkClient = keyof typeof installLinks;

export const linkClients: readonly LinkClient[] = ["vscode", "cursor"];

export function isLinkClient(name: string): name is LinkClient {
  return Object.hasOwn(installLinks, name);
}

/** The link that adds the entry to the client's settings. */
export function installLink(client: LinkClient, entry: ForeignEntry): string {
  return installLinks[client](entry);
}
