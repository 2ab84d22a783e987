/**
 * The contracts with the files of one machine: the stores that core has. They know one user and no tenant, so they take
 * only that part of a contract.
 */

import { type Credentials, createSignInLock, openTokenStorage, signInFolder } from "@fairlead/core/auth";
import {
  createLedger,
  forgetToolApproval,
  type LedgerEntry,
  readToolApprovals,
  saveToolApproval,
} from "@fairlead/core/policy";
import { AcceptedDefinitionsStore, type CatalogTool, definitionDigest } from "@fairlead/core/server";
import { type TemporaryFolder, temporaryFolder } from "@fairlead/test-servers";
import { afterAll, beforeAll, describe } from "vitest";
import type { SavedApproval, UserApprovalStore } from "../../src/store/approvals.ts";
import type { DefinitionStore } from "../../src/store/definitions.ts";
import type { Grant, GrantKey, GrantStore, NewGrant } from "../../src/store/grants.ts";
import { type AuditRow, type LedgerStore, timeOfRequest } from "../../src/store/ledger.ts";
import { approvalContract } from "./contract/approvals.ts";
import { definitionContract } from "./contract/definitions.ts";
import { grantContract } from "./contract/grants.ts";
import { rowContract } from "./contract/ledger.ts";

describe("with the files of one machine", () => {
  let home: TemporaryFolder;
  beforeAll(async () => {
    home = await temporaryFolder();
  });
  afterAll(() => home[Symbol.asyncDispose]());

  let definitions: DefinitionStore | undefined;
  definitionContract(() => (definitions ??= definitionFiles(`${home.path}/definitions`)), { users: false });
  approvalContract(() => approvalFiles(home.path), newApproval, { users: false });
  let grants: GrantStore | undefined;
  grantContract(() => (grants ??= grantFiles(home.path)), { users: false });
  let ledger: Pick<LedgerStore, "record" | "read"> | undefined;
  rowContract(() => (ledger ??= ledgerFiles(`${home.path}/ledger`)));
});

function definitionFiles(folder: string): DefinitionStore {
  const store = new AcceptedDefinitionsStore(folder);
  return {
    read: (_, server) => store.read(server),
    add: (_, server, news) => store.add(server, news),
  };
}

function approvalFiles(state: string): UserApprovalStore {
  return {
    async list() {
      const approvals = await readToolApprovals(state);
      return approvals.map(({ kind, approvedAt, ...rest }) => ({
        ...rest,
        kind: kind ?? ("tool" as const),
        by: "iss#ada",
        at: approvedAt,
      }));
    },
    async save(_, { server, fingerprint, client, definition = "", at }) {
      await saveToolApproval(
        state,
        { server, fingerprint, client },
        JSON.parse(definition) as CatalogTool,
        new Date(at),
      );
    },
    async remove(_, { server, fingerprint, client, tool }) {
      const before = await readToolApprovals(state);
      await forgetToolApproval(state, { server, fingerprint, client }, tool);
      return (await readToolApprovals(state)).length < before.length;
    },
  };
}

function newApproval(name: string, at: number, client?: string): SavedApproval {
  const tool: CatalogTool = { name, inputSchema: { type: "object" } };
  return {
    server: "demo",
    fingerprint: "f1",
    kind: "tool",
    tool: name,
    client,
    digest: definitionDigest(tool),
    definition: JSON.stringify({ inputSchema: tool.inputSchema, name }),
    by: "iss#ada",
    at: new Date(at).toISOString(),
  };
}

/** A sign-in has no generation in the files: the time at which its token was obtained stands for it. */
function grantFiles(state: string): GrantStore {
  const storage = openTokenStorage({ state, env: {}, platform: "linux" });
  const lock = createSignInLock(`${signInFolder(state)}/locks`);
  let generations = 0;
  const urlOf = ({ server }: GrantKey) => `https://${server}.example/mcp`;
  const store: GrantStore = {
    async read(key) {
      const found = await storage.pinned(key.pin).getCredentials(urlOf(key));
      return found && toGrant(key, found);
    },
    async save(key, grant) {
      generations += 1;
      const credentials = toCredentials(urlOf(key), key, grant, generations);
      await storage.pinned(key.pin).saveCredentials(credentials);
      return toGrant(key, credentials);
    },
    remove: (key) => storage.pinned(key.pin).deleteCredentials(urlOf(key)),
    list: () => Promise.reject(new Error("the files have no list by user")),
    async refresh(key, stale, refresh) {
      return lock(await storage.pinned(key.pin).nameOf(urlOf(key)), async () => {
        const found = await store.read(key);
        if (found?.generation !== stale) return found;
        const result = await refresh(found);
        return result.kind === "refreshed" ? store.save(key, result.grant) : found;
      });
    },
  };
  return store;
}

function toCredentials(serverUrl: string, key: GrantKey, grant: NewGrant, generation: number): Credentials {
  return {
    serverName: key.server,
    serverUrl,
    resource: serverUrl,
    issuer: grant.issuer,
    client: { clientId: "client" },
    endpoints: { token: "https://issuer.example/token" },
    tokens: {
      accessToken: grant.secret,
      tokenType: "Bearer",
      obtainedAt: generation,
      ...(grant.expiresAt === undefined ? {} : { expiresAt: grant.expiresAt }),
    },
  };
}

function toGrant(key: GrantKey, { issuer, tokens }: Credentials): Grant {
  const { accessToken = "", obtainedAt = 0, expiresAt } = tokens ?? {};
  return { key, issuer, secret: accessToken, expiresAt, generation: obtainedAt };
}

function ledgerFiles(folder: string): Pick<LedgerStore, "record" | "read"> {
  let now = 0;
  const ledger = createLedger({ folder, keepArguments: () => false, now: () => now });
  return {
    async record(row) {
      now = timeOfRequest(row.id) ?? 0;
      const { owner: _, replica: _r, argsDigest: _d, configVersion: _v, outcome, kind, ...record } = row;
      if (outcome === "unknown" || kind === "admin") throw new Error("the files have no intents and no administrators");
      await ledger.add({ ...record, outcome, kind, arguments: {} });
    },
    async read({ server, tool, limit }) {
      const matches = (entry: LedgerEntry) =>
        (server === undefined || entry.server === server) && (tool === undefined || entry.tool === tool);
      const entries = await ledger.read({ matches, limit });
      return entries.toReversed().map(toRow);
    },
  };
}

function toRow({ time, argumentsDigest, ...entry }: LedgerEntry) {
  const row: Omit<AuditRow, "id"> = {
    ...entry,
    owner: { tenant: 1, principal: "iss#ada" },
    replica: 1,
    configVersion: 0,
    argsDigest: Buffer.from(argumentsDigest, "hex"),
  };
  return { ...row, id: "", at: Date.parse(time) };
}
