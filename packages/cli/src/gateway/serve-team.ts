/** Runs one replica of the team gateway as a process: `fairlead serve --team`. */

import { openTeamServer } from "@fairlead/team/serve/team-server";
import type { Context } from "../shell/verb.ts";
import { version } from "../shell/version.ts";

/** Runs until SIGTERM or Ctrl-C, then finishes what is open. Prints `{"url","pid"}` when it is ready. */
export async function serveTeam({ io, telemetry }: Context): Promise<void> {
  const { env, home, cwd, platform } = io;
  const server = await openTeamServer({
    environment: { env, home, cwd, platform },
    version: version(),
    telemetry,
    write: (line) => void io.stderr.write(line),
  });
  const stop = io.onHangup?.(() => void server.reload());
  const { url, metricsUrl } = server;
  io.stdout.write(`${JSON.stringify({ url, pid: process.pid, metrics: metricsUrl })}\n`);
  await new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  stop?.();
  await server.drain();
}
