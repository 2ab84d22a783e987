import { HostError } from "@fairlead/core/errors";
import { expect, test } from "vitest";
import type { AddChoices } from "../../src/protocol/adding.ts";
import { Adding, type ServerAdding } from "../../src/server/state/adding.ts";

const choices: AddChoices = { name: "weather", scope: "user", inputs: { KEY: ["s3cret"] }, sandbox: "read" };
const options = { signal: new AbortController().signal };
const server = {
  name: "io.github.acme/weather",
  description: "",
  version: "1.2.0",
  kinds: [],
  status: "active",
  registry: "r",
} as const;

/** Adds what it is told, and says what it was told. Refuses a yes without "unproven". */
function scriptedAdding(): {
  readonly adding: ServerAdding;
  readonly planned: AddChoices[];
  readonly written: unknown[];
} {
  const planned: AddChoices[] = [];
  const written: unknown[] = [];
  const shown = {
    server,
    versions: [],
    ways: [],
    proof: { kind: "none", text: "" },
    inputs: [],
    name: "weather",
    scopes: [],
  } as const;
  const adding: ServerAdding = {
    search: async () => ({ servers: [], registries: [], unreached: [], refused: 0 }),
    find: async () => ({
      shown,
      async plan(wanted) {
        planned.push(wanted);
        return {
          shown: { name: wanted.name, fields: [], isUnproven: true, isUnboxed: false },
          async write(confirmed) {
            if (!confirmed.includes("unproven")) throw new HostError("denied", "unproven");
            written.push(wanted);
            return { name: wanted.name, file: "f", scope: "user", mayStart: true, notes: [] };
          },
        };
      },
    }),
  };
  return { adding, planned, written };
}

test("exactly what was planned is written, once; a yes that was refused can be said again", async () => {
  const { adding, planned, written } = scriptedAdding();
  using console = new Adding(adding);
  const { handlers } = console;
  const { offerId } = await handlers["add/find"].run({ name: server.name }, options);
  const { plan } = await handlers["add/plan"].run({ ...choices, offerId }, options);
  const write = async (confirmed: readonly "unproven"[]) => handlers["add/write"].run({ plan, confirmed }, options);
  await expect(write([])).rejects.toMatchObject({ code: "denied" });
  const both = await Promise.allSettled([write(["unproven"]), write(["unproven"])]);
  expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(planned).toEqual([choices]);
  expect(written).toEqual([choices]);
});

test("what the page names is checked: unknown offers and plans, and those of a closed console", async () => {
  const { adding, written } = scriptedAdding();
  const console = new Adding(adding);
  const { handlers } = console;
  const first = await handlers["add/find"].run({ name: server.name }, options);
  const { plan } = await handlers["add/plan"].run({ ...choices, offerId: first.offerId }, options);
  for (let more = 0; more < 16; more += 1) await handlers["add/find"].run({ name: server.name }, options);
  const old = async () => handlers["add/plan"].run({ ...choices, offerId: first.offerId }, options);
  await expect(old()).rejects.toMatchObject({ code: "not_found", next: "open the server again" });
  console[Symbol.dispose]();
  const late = async () => handlers["add/write"].run({ plan, confirmed: ["unproven"] }, options);
  await expect(late()).rejects.toMatchObject({ code: "not_found" });
  expect(written).toEqual([]);
});

test("a console of a program that writes no settings says so", async () => {
  using console = new Adding();
  const search = async () => console.handlers["add/search"].run({ words: "weather" }, options);
  await expect(search()).rejects.toMatchObject({ code: "usage", next: "fairlead mcp search WORDS" });
});
