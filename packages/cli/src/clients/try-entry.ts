/** Tests a client's entry with real requests: connects as the client would, and lists the tools. */

import { clientInfo } from "@fairlead/core/connect/client-info";
import type { ClientEntry } from "@fairlead/core/settings/own-server";
import { errorMessage } from "@fairlead/wire/text";
import type { Io } from "../shell/io.ts";

/** Whether the entry works. `tools` is the number of listed tools. */
export type EntryTest =
  | { readonly works: true; readonly tools: number }
  | { readonly works: false; readonly message: string };

/** The time limit in milliseconds, for connecting and listing the tools together. */
const testTimeout = 20_000;

/** Tests an entry for at most 20 seconds. Does not throw if the test fails. */
export async function tryEntry(entry: ClientEntry, { io }: { readonly io: Io }): Promise<EntryTest> {
  const { connect, listAll } = await import("@fairlead/wire");
  const stop = new AbortController();
  let stderr = "";
  const abort = (): void => stop.abort();
  const timer = setTimeout(abort, testTimeout);
  io.signal.addEventListener("abort", abort, { once: true });
  try {
    const session = await connect(targetOf(entry, io), {
      clientInfo,
      signal: stop.signal,
      onStderr: (text) => {
        stderr = (stderr + text).slice(-1_000);
      },
    });
    try {
      const { items } = await listAll(session, "tools", { signal: stop.signal });
      return { works: true, tools: items.length };
    } finally {
      await session.close();
    }
  } catch (error) {
    const isLate = stop.signal.aborted && !io.signal.aborted;
    const reason = isLate ? `no answer within ${testTimeout / 1000} s` : errorMessage(error);
    const said = stderr.trim().split("\n").slice(0, 3).join(" ").trim();
    return { works: false, message: said === "" ? reason : `${reason}; stderr: ${said}` };
  } finally {
    clearTimeout(timer);
    io.signal.removeEventListener("abort", abort);
  }
}

function targetOf(entry: ClientEntry, { env, home }: Io): Parameters<typeof import("@fairlead/wire").connect>[0] {
  if (entry.kind === "http") return entry;
  const own = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return { ...entry, env: { ...Object.fromEntries(own), ...entry.env }, cwd: home };
}
