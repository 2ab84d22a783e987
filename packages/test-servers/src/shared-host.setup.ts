/** Starts the process in which the usual test servers run, and ends it after the test run. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { announceSharedHost, canShare } from "./shared-host.ts";

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (!canShare()) return undefined;
  const program = fileURLToPath(new URL("programs/shared-host.mjs", import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  const gone = once(child, "exit");
  const [port] = (await once(createInterface(child.stdout), "line")) as [string];
  announceSharedHost(port);
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(
        `the shared process of the test servers ended during the run: ${child.exitCode ?? child.signalCode}`,
      );
    child.stdin.end();
    await gone;
  };
}
