/** A real `npx` whose registry, on this machine, does not answer or does not exist. */

import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { until } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import { connection } from "./connection.ts";

/** No name server is asked for a name with a label of 64 letters: it is too long for any. */
const unknownHost = `${"x".repeat(64)}.invalid`;

async function npx(registry: string, more: Readonly<Record<string, string>> = {}) {
  const clock = manualClock();
  const here = await connection(
    ({ home }) => ({
      command: "npx",
      args: ["-y", "some-mcp-server", "--verbose"],
      env: { npm_config_registry: registry, npm_config_cache: join(home, "cache"), ...more },
    }),
    // Only the test's own clock ends the attempt.
    { clock, connectTimeout: 600_000 },
  );
  const logs = join(here.world.home, "cache", "_logs");
  const logFile = (): string => join(logs, (existsSync(logs) ? readdirSync(logs)[0] : undefined) ?? "");
  const hasWritten = (text: string): boolean => existsSync(logFile()) && readFileSync(logFile(), "utf8").includes(text);
  return {
    failure: () => here.failure(),
    /** Lets the connect timeout pass when npm's log has this text. */
    async timeout(text: string) {
      const failing = here.failure();
      await until(() => logFile().endsWith(".log") && hasWritten(text));
      await clock.pass(600_000);
      return { error: await failing, log: logFile() };
    },
    [Symbol.asyncDispose]: () => here[Symbol.asyncDispose](),
  };
}

test("prints nothing while the registry does not answer: the next step names npm's log of this start", async () => {
  const registry = createServer((socket) => socket.on("error", () => undefined).resume());
  registry.listen(0, "127.0.0.1");
  await once(registry, "listening");
  const { port } = registry.address() as { port: number };
  await using here = await npx(`http://127.0.0.1:${port}/`);
  const { error, log } = await here.timeout("verbose argv");
  expect(error).toMatchObject({
    code: "connect_timeout",
    message: expect.stringMatching(/^"s" timed out after 600 s: no response to \S+$/),
    next: `see npm's own log, ${log}, or raise "fairlead.connectTimeout" in settings.json`,
  });
  await new Promise((resolve) => registry.close(resolve));
});

test("prints nothing while it cannot find the registry: the network comes first", async () => {
  await using here = await npx(`http://${unknownHost}/`);
  const { error, log } = await here.timeout("failed with");
  expect(error).toMatchObject({
    code: "connect_timeout",
    message: `"s" timed out after 600 s: npm cannot find the host ${unknownHost} (ENOTFOUND)`,
    next: `Check the network, its name server (DNS) and the proxy of this machine. npm's own log: ${log}`,
  });
});

test("gives up because it cannot find the registry: the network comes first", async () => {
  await using here = await npx(`http://${unknownHost}/`, { npm_config_fetch_retries: "0" });
  expect(await here.failure()).toMatchObject({
    code: "server_exited",
    message: expect.stringContaining("stderr: ENOTFOUND"),
    next: "Check the network, its name server (DNS) and the proxy of this machine.",
  });
});
