/** A list that changes at one replica changes for the clients at all others. */

import { postgresVersion, type TestDatabase, testDatabase } from "@fairlead/test-servers";
import type { Session } from "@fairlead/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { growingServer } from "../support/growing-server.ts";
import { type ReplicaProcess, type TeamScene, teamScene } from "../support/team-scene.ts";

describe.runIf(postgresVersion() !== undefined)("a list that changes", () => {
  let database: TestDatabase;
  let upstream: Awaited<ReturnType<typeof growingServer>>;
  let scene: TeamScene;
  let replicas: readonly ReplicaProcess[];

  beforeAll(async () => {
    const found = await testDatabase("lists that change at another replica");
    if (found === undefined) throw new Error("no PostgreSQL");
    database = found;
    upstream = await growingServer();
    scene = await teamScene(database, { servers: { growing: { httpUrl: upstream.url } } });
    replicas = await Promise.all([scene.start(), scene.start()]);
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const toolsOf = async (session: Session): Promise<number> => {
    const { tools } = await session.request("tools/list", {});
    return (tools as unknown[]).length;
  };

  for (const era of ["legacy", "modern"] as const)
    it(`is told to a ${era} client that listens at another replica, which lists the new tool`, async () => {
      const told: string[] = [];
      const [here, there] = replicas.map((each) => each.urlOf("growing"));
      const token = await scene.tokenOf(`${era}-ada`);
      const listener = await scene.open(there ?? "", token, era, {
        onNotification: (method) => void told.push(method),
      });
      const caller = await scene.open(here ?? "", token, era);
      const before = await toolsOf(listener);
      expect(await toolsOf(caller)).toBe(before);
      const end = new AbortController();
      const listening =
        era === "legacy"
          ? undefined
          : listener
              .request("subscriptions/listen", { notifications: { toolsListChanged: true } }, { signal: end.signal })
              .catch(() => undefined);
      if (era === "modern") await expect.poll(() => told.length).toBe(1);
      await caller.request("tools/call", { name: "grow", arguments: {} });
      await expect.poll(() => told, { timeout: 20_000 }).toContain("notifications/tools/list_changed");
      // A legacy client may have been told of the first list, too.
      await expect.poll(() => toolsOf(listener), { timeout: 20_000 }).toBe(before + 1);
      end.abort();
      await listening;
      await listener.close();
      await caller.close();
    });
});
