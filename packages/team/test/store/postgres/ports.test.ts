/** The contracts of all ports with PostgreSQL. */

import { testDatabase } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe } from "vitest";
import type { TeamStore } from "../../../src/store/store.ts";
import { openStore } from "../../support/open-store.ts";
import { approvalContract } from "../contract/approvals.ts";
import { definitionContract } from "../contract/definitions.ts";
import { grantContract, sharedGrantContract } from "../contract/grants.ts";
import { ledgerContract, rowContract } from "../contract/ledger.ts";
import { smallContracts } from "../contract/small-ports.ts";

const database = await testDatabase("the store of the team gateway");

describe.runIf(database !== undefined)("with PostgreSQL", () => {
  let store: TeamStore;
  beforeAll(async () => {
    if (database !== undefined) store = await openStore(database);
  });
  afterAll(async () => {
    await store.close();
    await database?.[Symbol.asyncDispose]();
  });

  definitionContract(() => store.definitions, { users: true });
  approvalContract(() => store.approvals, newApproval, { users: true });
  grantContract(() => store.grants, { users: true });
  sharedGrantContract(() => store.grants);
  rowContract(() => store.ledger);
  ledgerContract(() => store.ledger);
  smallContracts(() => store);
});

function newApproval(tool: string, at: number, client?: string) {
  return {
    server: "demo",
    fingerprint: "f1",
    kind: "tool",
    tool,
    client,
    digest: "d1",
    definition: '{"name":"tool"}',
    by: "iss#ada",
    at: new Date(at).toISOString(),
  } as const;
}
