/**
 * Four replicas, each a process of its own, need the tokens of the same 200 users at one moment, and all have expired. The
 * issuer replaces a refresh token with each use, and takes a spent one for a theft.
 */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { writeCredentials } from "@fairlead/core/auth";
import { createDatabase, type TemporaryFolder, temporaryFolder, testDatabase } from "@fairlead/test-servers";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { grantKeyOf } from "../../src/sign-in/user-grants.ts";
import { KeyRing } from "../../src/store/key-ring.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";

const count = 200;
const mostInFlight = 4;
/** Milliseconds for four processes with 200 refreshes, on a busy machine. */
const longest = 180_000;
const database = await testDatabase("tokens that expire at one moment");

describe.runIf(database !== undefined)("200 tokens that expire at one moment", () => {
  let folder: TemporaryFolder;
  let program: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
    program = join(folder.path, "token-holder.mjs");
    buildSync({
      entryPoints: [fileURLToPath(new URL("../programs/token-holder.ts", import.meta.url))],
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      conditions: ["fairlead-source"],
      external: ["pg-native", "@napi-rs/keyring", "@opentelemetry/*"],
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    });
  });
  afterAll(async () => {
    await folder[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  it("are refreshed once each by four replicas, and no spent token is sent", { timeout: longest }, async () => {
    await using run = await begin({ hasGrace: false });
    run.go();
    const results = await Promise.all(run.replicas.map(resultOf));
    expect(run.refreshed.size).toBe(count);
    expect(run.reused).toEqual([]);
    for (const result of results)
      expect(result).toEqual(Array.from({ length: count }, (_, user) => `access-${user}.2`));
  });

  it("end at most the sign-ins in flight of a replica that is killed, and each spent token is sent once more", {
    timeout: longest,
  }, async () => {
    await using run = await begin({ hasGrace: false });
    const [first = [], ...others] = await withKilledReplica(run);
    for (const result of others) expect(result).toEqual(first);
    const lost = first.filter((token) => token === "signed out");
    expect(lost.length).toBeLessThanOrEqual(mostInFlight);
    expect(run.reused).toHaveLength(lost.length);
    expect(new Set(run.reused).size).toBe(run.reused.length);
    expect(first.filter((token) => token.endsWith(".2"))).toHaveLength(count - lost.length);
    process.stderr.write(`sign-ins lost with a killed replica: ${lost.length}\n`);
  });

  it("end no sign-in if the issuer accepts a spent token for some seconds", { timeout: longest }, async () => {
    await using run = await begin({ hasGrace: true });
    const [first = [], ...others] = await withKilledReplica(run);
    for (const result of others) expect(result).toEqual(first);
    expect(first).toEqual(Array.from({ length: count }, (_, user) => `access-${user}.2`));
    expect(new Set(run.reused).size).toBe(run.reused.length);
    expect(run.reused.length).toBeLessThanOrEqual(mostInFlight);
  });

  async function withKilledReplica(run: Awaited<ReturnType<typeof begin>>): Promise<readonly (readonly string[])[]> {
    const [killed, ...others] = run.replicas;
    if (killed === undefined) throw new Error("no replica");
    run.onRefresh = () => {
      if (run.refreshed.size === count / 4) killed.kill("SIGKILL");
    };
    run.go();
    expect(await once(killed, "exit")).toEqual([null, "SIGKILL"]);
    return Promise.all(others.map(resultOf));
  }

  async function begin({ hasGrace }: { readonly hasGrace: boolean }) {
    if (database === undefined) throw new Error("PostgreSQL is absent");
    const own = await createDatabase(database.server);
    const run = {
      replicas: [] as readonly ChildProcessWithoutNullStreams[],
      /** The users for whom the issuer has given new tokens. */
      refreshed: new Set<string>(),
      /** The spent refresh tokens that were sent again. */
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
      void text(request).then((body) => {
        const token = new URLSearchParams(body).get("refresh_token") ?? "";
        const [user = ""] = token.replace("refresh-", "").split(".");
        const isSpent = run.refreshed.has(user);
        if (isSpent) run.reused.push(token);
        run.refreshed.add(user);
        run.onRefresh();
        const tokens = { access_token: `access-${user}.2`, refresh_token: `refresh-${user}.2` };
        const given = { ...tokens, token_type: "Bearer", expires_in: 3600 };
        const isRefused = isSpent && !hasGrace;
        setTimeout(() => {
          response.writeHead(isRefused ? 400 : 200, { "content-type": "application/json" });
          response.end(JSON.stringify(isRefused ? { error: "invalid_grant" } : given));
        }, 20);
      });
    });
    issuer.listen(0, "127.0.0.1");
    await once(issuer, "listening");
    const address = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
    const serverUrl = `${address}/mcp`;
    const keys = `k1 ${randomBytes(32).toString("base64")}`;
    const store = await openPostgresStore({ url: own.url, ring: KeyRing.parse(keys, "keys") });
    const target = { serverName: "notes", serverUrl, pin: undefined };
    for (let user = 0; user < count; user += 1)
      await store.grants.save(grantKeyOf({ tenant: 1, principal: `iss#user-${user}` }, target), {
        issuer: address,
        secret: writeCredentials({
          ...target,
          resource: serverUrl,
          issuer: address,
          client: { clientId: "fairlead", authentication: "none" },
          tokens: {
            accessToken: `access-${user}.1`,
            refreshToken: `refresh-${user}.1`,
            tokenType: "Bearer",
            obtainedAt: 0,
            expiresAt: 1,
          },
          endpoints: { token: `${address}/token` },
        }),
      });
    await store.close();
    run.replicas = Array.from({ length: 4 }, () =>
      spawn(process.execPath, [program, own.url, keys, serverUrl, String(count)], { stdio: ["pipe", "pipe", "pipe"] }),
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
