import { isDeepStrictEqual } from "node:util";
import { scaled, seed } from "@fairlead/test-servers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJsonc } from "../../src/files/json/jsonc.ts";
import { merge } from "../../src/settings/read/merge.ts";
import { admit } from "../../src/trust/admit.ts";
import { approve, readApprovals } from "../../src/trust/approvals.ts";
import { admissionOf, type Machine, trustedMachine, workspaceFile } from "../support/machine.ts";

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

const stdio: Json = {
  command: "./bin/server",
  args: ["--root", "${PWD}", "$$5"],
  env: { TOKEN: "${TOKEN:-none}", MODE: "read" },
  cwd: "data",
  timeout: 5000,
  trust: true,
  includeTools: ["read_*"],
  excludeTools: ["read_all"],
  description: "files",
};
const http: Json = {
  url: "https://example.com/mcp?x=1",
  type: "http",
  headers: { authorization: "Bearer ${TOKEN:-none}", accept: "*/*" },
  oauth: { enabled: true, clientId: "id", scopes: ["a", "b"], issuer: "https://example.com" },
  description: "remote",
};

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom("node", "$HOME", "~", "./bin/server ", "https://example.com/mcp", "", "__proto__"),
) as fc.Arbitrary<Json>;
const keys = fc.oneof(
  fc.string(),
  fc.constantFrom("command", "args", "env", "url", "httpUrl", "trust", "cwd", "__proto__", "Command"),
);

/** One change somewhere in a value: chosen by numbers, so that fast-check can make it smaller. */
const changes = fc.record({
  path: fc.array(fc.nat(20), { maxLength: 3 }),
  key: keys,
  value,
  how: fc.constantFrom("put", "drop", "edit"),
});
type Change = typeof changes extends fc.Arbitrary<infer T> ? T : never;

function mutate(node: Json, change: Change, [step, ...path]: readonly number[] = change.path): Json {
  const entries = Array.isArray(node) || typeof node !== "object" || node === null ? [] : Object.entries(node);
  if (step !== undefined && Array.isArray(node) && node.length > 0)
    return node.flatMap((item, index) => (index === step % node.length ? inPlace(item, change, path) : [item]));
  if (step !== undefined && entries.length > 0)
    return Object.fromEntries(
      entries.flatMap(([key, item], index) =>
        index === step % entries.length
          ? inPlace(item, change, path).map((changed) => [key, changed] as const)
          : [[key, item] as const],
      ),
    );
  if (Array.isArray(node)) return [...node, change.value];
  if (entries.length > 0) return Object.fromEntries([...entries, [change.key, change.value]]);
  return typeof node === "string" && change.how === "edit" ? `${node}${change.key}` : change.value;
}

function inPlace(item: Json, change: Change, path: readonly number[]): Json[] {
  return change.how === "drop" && path.length === 0 ? [] : [mutate(item, change, path)];
}

const withoutDescription = (entry: Json): Json =>
  typeof entry === "object" && entry !== null && !Array.isArray(entry)
    ? Object.fromEntries(Object.entries(entry).filter(([key]) => key !== "description"))
    : entry;
/** As it would be read back: JSON knows no negative zero. */
const asWritten = (entry: Json): unknown => JSON.parse(JSON.stringify(withoutDescription(entry)));

type IsAdmitted = (entry: Json) => Promise<boolean>;

/** The whole way: written to the workspace's file, and loaded from there. */
function onDisk(here: Machine): IsAdmitted {
  return async (entry) => {
    await here.write(workspaceFile, { mcpServers: { ours: entry } });
    return admissionOf(await here.load(), "ours")?.status === "admitted";
  };
}

/** The same decision on what has been approved by now, without a file in between. */
async function inMemory(here: Machine): Promise<IsAdmitted> {
  const { locations, environment, trust } = await here.load();
  const approvals = (await readApprovals(here.state)).get(here.root) ?? new Map();
  const envFiles = { user: new Map(), workspace: new Map(), problems: [] };
  const lookup = { environment, root: here.root, envFiles };
  const [scope, file] = ["workspace", workspaceFile] as const;
  return async (entry) => {
    const document = parseJsonc(JSON.stringify({ mcpServers: { ours: entry } }));
    const originOf = ({ offset }: { offset: number }) => ({ scope, file, ...document.positionAt(offset) });
    const source = { scope, file, state: "read", root: document.root, problems: [], originOf } as const;
    const settings = await merge([source], { trusted: true, lookup });
    const [server] = settings.servers;
    return server !== undefined && admit(server, { trust, settings, approvals, locations }).status === "admitted";
  };
}

test.each([
  ["a program", stdio],
  ["an address", http],
])(
  "whatever changes in the approved entry of %s, approval is lost, unless only the description changed",
  async (_, entry) => {
    await using here = await trustedMachine({ mcpServers: { ours: entry } });
    const { servers } = await here.load();
    const [{ server } = { server: undefined }] = servers;
    await approve(here.state, here.root, server?.definition === undefined ? [] : [server.definition]);
    const ways = [
      { isAdmitted: await inMemory(here), numRuns: scaled(5000, 200) },
      { isAdmitted: onDisk(here), numRuns: scaled(120) },
    ];
    for (const { isAdmitted, numRuns } of ways) {
      expect(await isAdmitted(entry)).toBe(true);
      await fc.assert(
        fc.asyncProperty(changes, async (change) => {
          const changed = mutate(entry, change);
          fc.pre(!isDeepStrictEqual(asWritten(changed), asWritten(entry)));
          expect(await isAdmitted(changed)).toBe(false);
        }),
        { numRuns, seed: seed() },
      );
      expect(await isAdmitted({ ...(entry as object), description: "another" })).toBe(true);
    }
  },
  600_000,
);
