/** Replicas, each a process of its own, that refresh the same expired sign-ins at one moment. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { createDatabase, type PostgresAddress } from "@fairlead/test-servers";
import { KeyRing } from "../../src/store/key-ring.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { type Bar, bar } from "./bars.ts";

/** At most so many refreshes of a replica are in flight. */
export const mostInFlight = 4;
/** Milliseconds in which the issuer answers. */
const delay = 20;

export interface Expiries extends AsyncDisposable {
  readonly replicas: readonly ChildProcessWithoutNullStreams[];
  /** The sign-ins that the issuer has given a new token for. */
  readonly refreshed: ReadonlySet<string>;
  /** The spent tokens that were sent again. */
  readonly reused: readonly string[];
  /** Called when the issuer has replaced a token and has not answered yet. */
  onRefresh: () => void;
  /** Begins, and resolves with the tokens that each replica has at the end: `refused` for a sign-in that is lost. */
  run(replicas?: readonly ChildProcessWithoutNullStreams[]): Promise<readonly (readonly string[])[]>;
  go(): void;
}

/** @param program The bundled `programs/refresher.ts`. */
export async function openExpiries(
  server: PostgresAddress,
  { program, count, replicas }: { readonly program: string; readonly count: number; readonly replicas: number },
): Promise<Expiries> {
  const own = await createDatabase(server);
  const keys = `k1 ${randomBytes(32).toString("base64")}`;
  const store = await openPostgresStore({ url: own.url, ring: KeyRing.parse(keys, "keys") });
  for (let index = 0; index < count; index += 1)
    await store.grants.save(
      { tenant: 1, principal: "iss#ada", server: `server-${index}`, pin: "pin" },
      { issuer: "issuer", secret: `${index}.1` },
    );
  await store.close();
  const refreshed = new Set<string>();
  const reused: string[] = [];
  /** It replaces the token at once, and answers after the time that an issuer takes. */
  const issuer = createServer((request, response) => {
    void text(request).then((token) => {
      const [id = ""] = token.split(".");
      const isSpent = refreshed.has(id);
      if (isSpent) reused.push(token);
      refreshed.add(id);
      run.onRefresh();
      setTimeout(() => response.writeHead(isSpent ? 400 : 200).end(isSpent ? "invalid_grant" : `${id}.2`), delay);
    });
  });
  issuer.listen(0, "127.0.0.1");
  await once(issuer, "listening");
  const address = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
  const started = Array.from({ length: replicas }, () =>
    spawn(process.execPath, [program, own.url, keys, address, String(count)], { stdio: ["pipe", "pipe", "pipe"] }),
  );
  for (const replica of started) {
    replica.stderr.pipe(process.stderr, { end: false });
    replica.stdin.on("error", () => undefined);
  }
  const run: Expiries = {
    replicas: started,
    refreshed,
    reused,
    onRefresh: () => undefined,
    go() {
      for (const replica of started) replica.stdin.write("go\n");
    },
    run(waited = started) {
      run.go();
      return Promise.all(waited.map(resultOf));
    },
    async [Symbol.asyncDispose]() {
      for (const replica of started) replica.kill("SIGKILL");
      issuer.closeAllConnections();
      issuer.close();
      await own[Symbol.asyncDispose]();
    },
  };
  await Promise.all(started.map(firstLine));
  return run;
}

/** A replica that ends without it would be waited for without end. */
async function firstLine(replica: ChildProcessWithoutNullStreams): Promise<string> {
  const ended = new AbortController();
  const gone = once(replica, "exit", { signal: ended.signal }).then(([code]) => {
    throw new Error(`a replica ended with code ${String(code)} before it was done`);
  });
  gone.catch(() => undefined);
  try {
    const [line] = (await Promise.race([once(createInterface(replica.stdout), "line"), gone])) as [string];
    return line;
  } finally {
    ended.abort();
  }
}

async function resultOf(replica: ChildProcessWithoutNullStreams): Promise<readonly string[]> {
  const line = await firstLine(replica);
  return JSON.parse(line) as readonly string[];
}

/** 200 sign-ins expire at one moment: with one replica, with four, and with four of which one is killed. */
export async function measureExpiries(server: PostgresAddress, program: string): Promise<readonly Bar[]> {
  const count = 200;
  const walls: number[] = [];
  const counts: string[] = [];
  let isOnce = true;
  for (const replicas of [1, 4]) {
    await using expiries = await openExpiries(server, { program, count, replicas });
    const begin = performance.now();
    await expiries.run();
    walls.push((performance.now() - begin) / 1000);
    counts.push(`${expiries.refreshed.size} refreshes, ${expiries.reused.length} reused`);
    isOnce &&= expiries.refreshed.size === count && expiries.reused.length === 0;
  }
  const [one = 1, four = 0] = walls;
  await using expiries = await openExpiries(server, { program, count, replicas: 4 });
  const [killed, ...others] = expiries.replicas;
  expiries.onRefresh = () => {
    if (expiries.refreshed.size === count / 4) killed?.kill("SIGKILL");
  };
  const results = await expiries.run(others);
  const lost = results[0]?.filter((token) => token === "refused").length ?? count;
  const { reused } = expiries;
  const isKept = lost <= mostInFlight && reused.length === lost && new Set(reused).size === reused.length;
  return [
    bar("4 × 200 expiries at one moment", "200 refreshes, 0 reused", counts[1] ?? "", isOnce),
    {
      title: "  beside one process",
      limit: "≤ 1.3 × its time",
      measured: `${four.toFixed(2)} s beside ${one.toFixed(2)} s: ${(four / one).toFixed(2)} ×`,
      isMet: four <= 1.3 * one,
      isTime: true,
    },
    bar(
      "  one replica killed in the middle",
      `≤ ${mostInFlight} lost, each sent once more`,
      `${lost} lost, ${reused.length} sent once more`,
      isKept,
    ),
  ];
}
