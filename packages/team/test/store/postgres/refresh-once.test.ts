/** Four replicas, each a process of its own, refresh the same 200 expired sign-ins at one moment. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createDatabase, type TemporaryFolder, temporaryFolder, testDatabase } from "@fairlead/test-servers";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KeyRing } from "../../../src/store/key-ring.ts";
import { openPostgresStore } from "../../../src/store/postgres/store.ts";

const count = 200;
const mostInFlight = 4;
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
    await using run = await begin(program);
    run.go();
    const results = await Promise.all(run.replicas.map(resultOf));
    expect(run.refreshed.size).toBe(count);
    expect(run.reused).toEqual([]);
    for (const result of results) expect(result).toEqual(Array.from({ length: count }, (_, index) => `${index}.2`));
  });

  it("lose at most the refreshes in flight of a replica that is killed, and send each spent token once more", async () => {
    await using run = await begin(program);
    const [killed, ...others] = run.replicas;
    if (killed === undefined) throw new Error("no replica");
    run.onRefresh = () => {
      if (run.refreshed.size === count / 4) killed.kill("SIGKILL");
    };
    run.go();
    await once(killed, "exit");
    const results = await Promise.all(others.map(resultOf));
    const [first = []] = results;
    for (const result of results) expect(result).toEqual(first);
    const refused = first.filter((secret) => secret === "refused");
    expect(refused.length).toBe(run.reused.length);
    expect(refused.length).toBeLessThanOrEqual(mostInFlight);
    expect(new Set(run.reused).size).toBe(run.reused.length);
    expect(first.filter((secret) => secret.endsWith(".2"))).toHaveLength(count - refused.length);
    process.stderr.write(`sign-ins lost with a killed replica: ${refused.length}\n`);
  });

  async function begin(file: string) {
    if (database === undefined) throw new Error("PostgreSQL is absent");
    const own = await createDatabase(database.server);
    const keys = `k1 ${randomBytes(32).toString("base64")}`;
    const store = await openPostgresStore({ url: own.url, ring: KeyRing.parse(keys, "keys") });
    for (let index = 0; index < count; index += 1)
      await store.grants.save(
        { tenant: 1, principal: "iss#ada", server: `server-${index}`, pin: "pin" },
        { issuer: "issuer", secret: `${index}.1` },
      );
    await store.close();
    const run = {
      replicas: [] as readonly ChildProcessWithoutNullStreams[],
      /** The sign-ins that the issuer has given a new token for. */
      refreshed: new Set<string>(),
      /** The spent tokens that were sent again. */
      reused: [] as string[],
      onRefresh: (): void => undefined,
      go: () => {
        for (const replica of run.replicas) replica.stdin.write("go\n");
      },
      async [Symbol.asyncDispose]() {
        for (const replica of run.replicas) replica.kill("SIGKILL");
        issuer.closeAllConnections();
        issuer.close();
        await own[Symbol.asyncDispose]();
      },
    };
    /** It replaces the token at once, and answers after the time that an issuer takes. */
    const issuer = createServer((request, response) => {
      void text(request).then((token) => {
        const [id = ""] = token.split(".");
        const isSpent = run.refreshed.has(id);
        if (isSpent) run.reused.push(token);
        run.refreshed.add(id);
        run.onRefresh();
        setTimeout(() => response.writeHead(isSpent ? 400 : 200).end(isSpent ? "invalid_grant" : `${id}.2`), 20);
      });
    });
    issuer.listen(0, "127.0.0.1");
    await once(issuer, "listening");
    const address = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
    run.replicas = Array.from({ length: 4 }, () =>
      spawn(process.execPath, [file, own.url, keys, address, String(count)], { stdio: ["pipe", "pipe", "pipe"] }),
    );
    for (const replica of run.replicas) {
      replica.stderr.pipe(process.stderr, { end: false });
      replica.stdin.on("error", () => undefined);
    }
    await Promise.all(run.replicas.map((replica) => once(createInterface(replica.stdout), "line")));
    return run;
  }
});

async function resultOf(replica: ChildProcessWithoutNullStreams): Promise<readonly string[]> {
  const [line] = (await once(createInterface(replica.stdout), "line")) as [string];
  return JSON.parse(line) as readonly string[];
}
