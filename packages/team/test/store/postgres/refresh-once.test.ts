/** Four replicas, each a process of its own, refresh the same 200 expired sign-ins at one moment. */

import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type TemporaryFolder, temporaryFolder, testDatabase } from "@fairlead/test-servers";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Expiries, mostInFlight, openExpiries } from "../../lab/expiries.ts";

const count = 200;
const database = await testDatabase("sign-ins refreshed once by four replicas");

describe.runIf(database !== undefined)("200 sign-ins that expire at one moment", () => {
  let folder: TemporaryFolder;
  let program: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
    program = join(folder.path, "refresher.mjs");
    buildSync({
      entryPoints: [fileURLToPath(new URL("../../programs/refresher.ts", import.meta.url))],
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      conditions: ["fairlead-source"],
      external: ["pg-native", "@napi-rs/keyring"],
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    });
  });
  afterAll(async () => {
    await folder[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  it("are refreshed once each by four replicas, and no spent token is sent", async () => {
    await using expiries = await open();
    const results = await expiries.run();
    expect(expiries.refreshed.size).toBe(count);
    expect(expiries.reused).toEqual([]);
    for (const result of results) expect(result).toEqual(Array.from({ length: count }, (_, index) => `${index}.2`));
  });

  it("lose at most the refreshes in flight of a replica that is killed, and send each spent token once more", async () => {
    await using expiries = await open();
    const { reused } = expiries;
    const [killed, ...others] = expiries.replicas;
    if (killed === undefined) throw new Error("no replica");
    expiries.onRefresh = () => {
      if (expiries.refreshed.size === count / 4) killed.kill("SIGKILL");
    };
    const [results] = await Promise.all([expiries.run(others), once(killed, "exit")]);
    const [first = []] = results;
    for (const result of results) expect(result).toEqual(first);
    const refused = first.filter((secret) => secret === "refused");
    expect(refused.length).toBe(reused.length);
    expect(refused.length).toBeLessThanOrEqual(mostInFlight);
    expect(new Set(reused).size).toBe(reused.length);
    expect(first.filter((secret) => secret.endsWith(".2"))).toHaveLength(count - refused.length);
    process.stderr.write(`sign-ins lost with a killed replica: ${refused.length}\n`);
  });

  function open(): Promise<Expiries> {
    if (database === undefined) throw new Error("PostgreSQL is absent");
    return openExpiries(database.server, { program, count, replicas: 4 });
  }
});
