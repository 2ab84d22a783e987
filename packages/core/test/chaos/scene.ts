/** A host for chaos: its own home folder, and what it holds while something is tried. */

import { monitorEventLoopDelay } from "node:perf_hooks";
import { processesWith, type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { createHost, type Host, HostError } from "../../src/index.ts";

export interface ChaosHost extends AsyncDisposable {
  readonly host: Host;
  readonly folder: TemporaryFolder;
}

/** Opens a host with these servers. Closing it fails if a process of a server is left. */
export async function chaosHost(
  mcpServers: Readonly<Record<string, object>>,
  fairlead: Readonly<Record<string, unknown>> = {},
): Promise<ChaosHost> {
  const folder = await temporaryFolder();
  const home = folder.path;
  const host = await createHost({
    settings: { mcpServers, fairlead },
    workspace: false,
    environment: { env: { PATH: process.env["PATH"], HOME: home }, home, cwd: home, platform: process.platform },
  });
  return {
    host,
    folder,
    async [Symbol.asyncDispose]() {
      await within(60, "closing the host", host[Symbol.asyncDispose]());
      const left = processesWith(`HOME=${home}`);
      await folder[Symbol.asyncDispose]();
      if (left.length > 0) throw new Error(`left behind: ${left.join("; ")}`);
    },
  };
}

/** Calls the tool `echo`. Throws unless it says what it is told. */
export async function echoes(host: Host, server: string, text: string): Promise<void> {
  const { content } = await within(60, `a call of ${server}`, host.call(server, "echo", { text }));
  if (JSON.stringify(content) !== JSON.stringify([{ type: "text", text }]))
    throw new Error(`${server} got the response of another call: ${JSON.stringify(content).slice(0, 200)}`);
}

/** Whether an error says what happened: it is the host's, with a message, and not a mistake of the host itself. */
export function isExplained(error: unknown): boolean {
  return error instanceof HostError && error.message !== "" && error.code !== "internal";
}

/** Fails if the work takes so long that it hangs. It is a bound on hanging, not a measurement. */
export async function within<T>(seconds: number, what: string, work: PromiseLike<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hangs = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} hangs: not done after ${seconds} s`)), seconds * 1000);
  });
  try {
    return await Promise.race([work, hangs]);
  } finally {
    clearTimeout(timer);
  }
}

/** What this process held meanwhile: memory that it gained at most, and the longest time without its event loop. */
export function heldLoad(): { readonly text: () => string; readonly stop: () => void } {
  const start = process.memoryUsage().rss;
  let most = start;
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 50);
  const stop = (): void => {
    clearInterval(timer);
    delay.disable();
  };
  return {
    stop,
    text() {
      stop();
      const megabytes = (most - start) / 2 ** 20;
      return `memory +${megabytes.toFixed(0)} MB at most, longest stall ${(delay.max / 1e6).toFixed(0)} ms`;
    },
  };
}
