/** Saved approvals and accepted definitions that are kept elsewhere, for a host whose user has several of them. */

import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { HostError } from "../../src/errors.ts";
import { openHost } from "../../src/host.ts";
import type { ToolApproval, ToolApprovalStore } from "../../src/policy/approvals.ts";
import { readPolicies } from "../../src/policy/rules/load-policies.ts";
import {
  type AcceptedDefinitionPort,
  type AcceptedDigests,
  addAccepted,
  toAccepted,
} from "../../src/server/accepted-definitions.ts";
import { loadConfiguration } from "../../src/trust/configuration.ts";

/** What two hosts of one user share. */
class Shared {
  approvals: readonly ToolApproval[] = [];
  digests: AcceptedDigests = {};
  version = 0;
  isAway = false;

  readonly #answer = <Value>(value: () => Value): Promise<Value> =>
    this.isAway ? Promise.reject(new HostError("unreachable", "the store is away")) : Promise.resolve(value());

  store(): ToolApprovalStore {
    const version = () => this.version;
    return {
      read: () => this.#answer(() => this.approvals),
      save: (approval) =>
        this.#answer(() => {
          this.approvals = [approval, ...this.approvals];
          this.version += 1;
        }),
      remove: (approval) =>
        this.#answer(() => {
          this.approvals = this.approvals.filter(({ tool }) => tool !== approval.tool);
          this.version += 1;
        }),
      canSave: () => Promise.resolve(!this.isAway),
      get version() {
        return version();
      },
    };
  }

  readonly definitions: AcceptedDefinitionPort = {
    read: () => this.#answer(() => toAccepted(this.digests)),
    add: (_owner, news) =>
      this.#answer(() => {
        this.digests = addAccepted(this.digests, news);
        return toAccepted(this.digests);
      }),
    checkWritable: () => this.#answer(() => undefined),
  };
}

async function hostOf(shared: Shared, home: string, answers: string[] = [], policy?: string, state = "state") {
  const first = await loadConfiguration({
    environment: { env: { FAIRLEAD_HOME: `${home}/${state}` }, home, cwd: home, platform: process.platform },
    workspace: false,
    userSettings: JSON.stringify({ mcpServers: { s: stdioServer("well-behaved") } }),
  });
  const policies =
    policy === undefined ? undefined : await readPolicies(policy, "policy version 3", first.settings.servers);
  return openHost(policies === undefined ? first : { ...first, policies }, {
    savedApprovals: shared.store(),
    acceptedDefinitions: shared.definitions,
    principal: { user: "iss#ada", groups: ["engineers"] },
    confirm: async ({ outcomes }) => {
      answers.push(outcomes.join(" "));
      return "proceed_always_and_save";
    },
  });
}

test("an approval that a user saves in one process counts in another one, and nothing of it is on disk", async () => {
  await using folder = await temporaryFolder();
  const shared = new Shared();
  const asked: string[] = [];
  await using first = await hostOf(shared, folder.path, asked, undefined, "first");
  await using second = await hostOf(shared, folder.path, asked, undefined, "second");
  const call = (host: typeof first) => host.callAsModel("echo", { text: "hello" });
  await first.start();
  await second.start();
  await call(first);
  expect(asked).toHaveLength(1);
  expect(shared.approvals.map(({ server, tool }) => `${server}.${tool}`)).toEqual(["s.echo"]);
  await call(second);
  expect(asked).toHaveLength(1);
  expect(Object.keys(shared.digests).length).toBeGreaterThan(0);

  await shared.store().remove({ ...shared.approvals[0], tool: "echo" } as ToolApproval);
  await call(second);
  expect(asked).toHaveLength(2);
});

test("while the store is away, nothing can be saved, and a person is asked", async () => {
  await using folder = await temporaryFolder();
  const shared = new Shared();
  shared.isAway = true;
  const asked: string[] = [];
  await using host = await hostOf(shared, folder.path, asked);
  await host.start();
  await host.callAsModel("echo", { text: "hello" });
  expect(asked).toEqual([expect.not.stringContaining("proceed_always_and_save")]);
});

test("rules that are in no file decide as the administrator's, and are named", async () => {
  await using folder = await temporaryFolder();
  const policy = '[[rule]]\nmcpName = "s"\ntoolName = "echo"\ngroup = "engineers"\ndecision = "deny"\npriority = 1\n';
  await using host = await hostOf(new Shared(), folder.path, [], policy);
  await host.start();
  const { decision } = await host.explain("s", "echo");
  expect([decision.decision, decision.rule.tier, decision.rule.origin.file]).toEqual([
    "deny",
    "administrator",
    "policy version 3",
  ]);
  await expect(host.callAsModel("echo", { text: "x" })).rejects.toMatchObject({ code: "denied" });
});
