/** Hosts of one user on several replicas share what the user has approved and accepted. */

import { tmpdir } from "node:os";
import { openHost } from "@fairlead/core/host";
import { loadConfiguration } from "@fairlead/core/trust";
import { temporaryFolder, testDatabase, workshop } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UserApprovals } from "../../src/people/user-approvals.ts";
import { userDefinitions } from "../../src/people/user-definitions.ts";
import type { Owner } from "../../src/store/owner.ts";
import type { TeamStore } from "../../src/store/store.ts";
import { openStore } from "../support/open-store.ts";

const database = await testDatabase("approvals and accepted definitions of a team's users");
const ada = { tenant: 1, principal: "https://idp.example#ada" };

describe.runIf(database !== undefined)("the hosts of a user on two replicas", () => {
  let stores: readonly [TeamStore, TeamStore];
  beforeAll(async () => {
    if (database !== undefined) stores = [await openStore(database), await openStore(database)];
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    await database?.[Symbol.asyncDispose]();
  });

  async function hostOf(store: TeamStore, owner: Owner, home: string, url: string | undefined, asked: string[]) {
    const env = { PATH: process.env["PATH"], HOME: home, GEMINI_CLI_SYSTEM_SETTINGS_PATH: `${home}/none` };
    const configuration = await loadConfiguration({
      environment: { env, home, cwd: tmpdir(), platform: process.platform },
      workspace: false,
      userSettings: JSON.stringify({ mcpServers: { shop: { httpUrl: url } } }),
    });
    const savedApprovals = new UserApprovals({
      store: store.approvals,
      hints: store.hints,
      owner,
      clock: { now: () => performance.now() },
    });
    const host = openHost(configuration, {
      principal: { user: owner.principal },
      savedApprovals,
      acceptedDefinitions: userDefinitions(store, owner),
      confirm: async ({ serverName, toolName }) => {
        asked.push(`${owner.principal} ${serverName}.${toolName}`);
        return "proceed_always_and_save";
      },
    });
    await host.start();
    return {
      call: () => host.callAsModel("echo", { text: "hello" }),
      decision: async () => (await host.explain("shop", "echo")).decision.decision,
      async [Symbol.asyncDispose]() {
        savedApprovals[Symbol.dispose]();
        await host[Symbol.asyncDispose]();
      },
    };
  }

  it("ask once, and another user is asked as well", async () => {
    await using shop = await workshop("modern", "http");
    await using homes = await temporaryFolder();
    const home = (name: string) => `${homes.path}/${name}`;
    const asked: string[] = [];
    await using first = await hostOf(stores[0], ada, home("first"), shop.url, asked);
    await using second = await hostOf(stores[1], ada, home("second"), shop.url, asked);
    expect(await second.decision()).toBe("ask_user");
    await first.call();
    expect(asked).toHaveLength(1);
    await expect.poll(() => second.decision()).toBe("allow");
    await second.call();
    expect(asked).toHaveLength(1);
    expect((await stores[1].approvals.list(ada)).map(({ tool, by }) => [tool, by])).toEqual([["echo", ada.principal]]);

    const eve = { tenant: 1, principal: "https://idp.example#eve" };
    const otherTenant = { tenant: 2, principal: ada.principal };
    for (const owner of [eve, otherTenant]) {
      await using theirs = await hostOf(stores[1], owner, home(`of ${owner.tenant} ${owner === eve}`), shop.url, asked);
      expect(await theirs.decision()).toBe("ask_user");
      await theirs.call();
    }
    expect(asked).toHaveLength(3);
  });
});
