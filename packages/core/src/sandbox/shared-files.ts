/** Files of Fairlead that sandboxes show: users, groups and names of hosts, the script for the network, and the start script. */

import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxSettings } from "../settings/define/definition.ts";
import { insideScript, insideScriptPath } from "./inside-script.ts";
import { insideStartPath, startScript } from "./start-script.ts";

/** The home folder and the user of a program in its sandbox. */
export const insideHome = "/home/sandbox";
export const insideUser = "sandbox";
export const insideId = "1000";
/** The options that show these files. Sandboxes with the same names in `tcp` share them. */
export async function sharedFiles(sandbox: SandboxSettings, state: string): Promise<readonly string[]> {
  const names = tcpTargets(sandbox).map(({ address, name }) => `${address} ${name}\n`);
  const texts: Readonly<Record<string, string>> = {
    passwd: `${insideUser}:x:${insideId}:${insideId}:${insideUser}:${insideHome}:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n`,
    group: `${insideUser}:x:${insideId}:\nnogroup:x:65534:\n`,
    hosts: ["127.0.0.1 localhost sandbox\n::1 localhost\n", ...names].join(""),
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "resolv.conf": "",
  };
  const folder = join(state, "sandboxes", "shared");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const scripts: readonly (readonly [string, string])[] = [
    [await contentFile(folder, "net.cjs", insideScript), insideScriptPath],
    [await contentFile(folder, "start", startScript), insideStartPath],
  ];
  const written = await Promise.all(
    Object.entries(texts).map(async ([name, text]) => [await contentFile(folder, name, text), `/etc/${name}`] as const),
  );
  return [...scripts, ...written].flatMap(([file, path]) => ["--ro-bind", file, path]);
}

/** Writes a text into a file that is named after its digest, unless there is one. */
async function contentFile(folder: string, name: string, text: string): Promise<string> {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const file = join(folder, `${digest}-${name}`);
  if ((await readFile(file, "utf8").catch(() => undefined)) !== text) await writeFile(file, text, { mode: 0o600 });
  return file;
}

/** Each name of `tcp` gets an address inside, on which the script listens. */
export function tcpTargets({
  tcp,
}: SandboxSettings): readonly { readonly address: string; readonly name: string; readonly target: string }[] {
  const names = [...new Set(tcp.map((target) => target.replace(/:\d+$/, "")))];
  return tcp.map((target) => {
    const name = target.replace(/:\d+$/, "");
    return { address: `127.0.0.${names.indexOf(name) + 2}`, name, target };
  });
}
