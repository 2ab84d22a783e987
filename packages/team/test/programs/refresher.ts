/**
 * One replica that refreshes expired sign-ins: prints `ready`, begins with the first line of stdin, refreshes all of them
 * at once, and prints how it ended for each.
 */

import { once } from "node:events";
import type { Grant, RefreshResult } from "../../src/store/grants.ts";
import { KeyRing } from "../../src/store/key-ring.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";

const [url = "", keys = "", issuer = "", count = "0"] = process.argv.slice(2);
const store = await openPostgresStore({ url, ring: KeyRing.parse(keys, "keys") });
const owner = { tenant: 1, principal: "iss#ada" };
const stale = new Map((await store.grants.list(owner)).map((grant) => [grant.key.server, grant.generation]));

async function refresh({ secret }: Grant): Promise<RefreshResult> {
  const response = await fetch(issuer, { method: "POST", body: secret });
  if (response.status === 400) return { kind: "refused" };
  return { kind: "refreshed", grant: { issuer, secret: await response.text() } };
}

process.stdout.write("ready\n");
await once(process.stdin, "data");
const ended = await Promise.all(
  Array.from({ length: Number(count) }, async (_, index) => {
    const key = { ...owner, server: `server-${index}`, pin: "pin" };
    const grant = await store.grants.refresh(key, stale.get(key.server) ?? 0, refresh, AbortSignal.timeout(50_000));
    return grant?.refusedAt === undefined ? (grant?.secret ?? "gone") : "refused";
  }),
);
await store.close();
process.stdout.write(`${JSON.stringify(ended)}\n`);
process.stdin.destroy();
