import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Settings } from "../../src/settings/define/definition.ts";
import { folderTrustEnabled, ideEnabled, readSources } from "../../src/settings/read/load.ts";
import type { LeafKey } from "../../src/settings/schema/key.ts";
import { leafKeys } from "../../src/settings/schema/schema.ts";
import { createWorld, type World } from "../support/load-settings.ts";

/** A value that would be noticed: for a bound the smallest, for a switch the unusual one. */
function probeOf(key: LeafKey): unknown {
  switch (key.type) {
    case "text":
      return key.oneOf?.at(-1) ?? (key.format === undefined ? "planted" : "https://planted.example/");
    case "number":
      return key.minimum;
    case "switch":
      return key.default !== true;
    case "list":
      return ["planted"];
    case "texts":
      return { PLANTED: "planted" };
    case "lists":
      return { mine: ["planted"] };
    case "section":
      return { url: "https://planted.example" };
  }
}

/** A workspace file with that one key, under a name of the user's and under a new one. */
function planted(path: readonly string[], key: LeafKey): object {
  const set = (name: string): object =>
    path.reduceRight<unknown>((inner, part) => ({ [part === "<name>" ? name : part]: inner }), probeOf(key)) as object;
  if (path[0] !== "mcpServers") return merge(set("mine"), set("other"));
  const [, , field = ""] = path;
  const companion = ["command", "url", "httpUrl"].includes(field) ? {} : { command: "planted" };
  return {
    mcpServers: {
      mine: { ...companion, ...entryOf(set("x"), "x") },
      other: { ...companion, ...entryOf(set("x"), "x") },
    },
  };
}

function entryOf(file: object, name: string): object {
  return Object.values(file).flatMap((servers: Record<string, object>) => servers[name] ?? [])[0] ?? {};
}

function merge(a: unknown, b: unknown): object {
  const both = { ...(a as Record<string, unknown>) };
  for (const [key, value] of Object.entries(b as Record<string, unknown>)) {
    const isObject = typeof value === "object" && !Array.isArray(value) && key in both;
    both[key] = isObject ? merge(both[key], value) : value;
  }
  return both;
}

/** Everything that decides what is started, contacted or allowed; not what is merely said about it. */
async function effectOf(world: World, trusted: boolean) {
  const settings: Settings = await world.load({ trusted, env: { planted: "x" } });
  const sources = await readSources(await world.locate());
  const { servers, allowed, excluded, host } = settings;
  return {
    servers: servers
      .filter(({ scope }) => scope !== "workspace")
      .map((server) => ({ ...server, problems: server.problems.filter(({ severity }) => severity === "error") })),
    inert: servers.filter(({ scope }) => scope === "workspace"),
    rules: { allowed, excluded, host, folderTrust: folderTrustEnabled(sources), ide: ideEnabled(sources) },
  };
}

async function worldOfOne(): Promise<World> {
  const world = await createWorld();
  await world.writeUser({
    mcpServers: { mine: { command: "mine" } },
    fairlead: { permissions: { servers: { mine: ["planted", "own"] } } },
  });
  return world;
}

const keys = leafKeys().map(({ path, key }) => ({ name: path.join("."), path, key }));

describe("a key in a workspace file", () => {
  let world: World;
  /** The effect of the same settings without a workspace file. */
  let before: Awaited<ReturnType<typeof effectOf>>;

  beforeAll(async () => {
    world = await worldOfOne();
    before = await effectOf(world, false);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("there are keys to test, and each has a decision", () => {
    expect(keys.length).toBeGreaterThan(40);
    const decisions = [
      "once the folder is trusted and the entry approved",
      "once the folder is trusted",
      "only to restrict further, in a trusted folder",
      "never: set it in user or system settings",
      "never: set it in system settings",
      "no effect anywhere",
    ];
    expect(keys.filter(({ key }) => !decisions.includes(key.workspace)).map(({ name }) => name)).toEqual([]);
  });

  test.each(keys)(
    "$name: no effect in an untrusted folder; in a trusted one, what its decision says",
    async ({ path, key }) => {
      await world.writeWorkspace(planted(path, key));
      const untrusted = await effectOf(world, false);
      expect({ ...untrusted, inert: [] }).toEqual(before);
      for (const server of untrusted.inert) {
        expect(server.name).toMatch(/^(other|mcp)$/);
        expect(server.definition?.resolved).toBeUndefined();
        expect(server.definition?.values ?? new Map()).toEqual(new Map());
      }

      const trusted = await effectOf(world, true);
      const isIdle = key.workspace.startsWith("never: ") || key.workspace === "no effect anywhere";
      // An ignored key of an entry is still part of an entry, and that one is new.
      // An origin counts only beside its entry, in the same file.
      const isOfEntry = path[3] === "origin";
      if ((isIdle || isOfEntry) && path[0] !== "mcpServers") expect(trusted).toEqual(before);
      else expect(trusted).not.toEqual(before);
    },
  );
});
