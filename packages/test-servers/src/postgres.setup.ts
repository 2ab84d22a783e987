/** Starts the shared PostgreSQL of a test run when the first test file asks for it, and ends it after the run. */

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { announcePostgres, PostgresServer, postgresPrograms } from "./postgres.ts";

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (postgresPrograms === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "postgres-door-"));
  const path = join(folder, "door");
  let started: Promise<PostgresServer | undefined> | undefined;
  const door = createServer((socket) => {
    started ??= PostgresServer.create();
    started.then(
      (server) => socket.end(JSON.stringify({ folder: server?.folder, version: server?.version })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    );
  });
  door.listen(path);
  await once(door, "listening");
  announcePostgres(path);
  return async () => {
    door.close();
    const server = await started?.catch(() => undefined);
    await server?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
}
