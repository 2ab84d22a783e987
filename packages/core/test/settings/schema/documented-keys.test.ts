import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { settingsJsonSchema } from "../../../src/settings/schema/json-schema.ts";
import type { LeafKey } from "../../../src/settings/schema/key.ts";
import { leafKeys } from "../../../src/settings/schema/schema.ts";

interface Documented {
  readonly type: string;
  readonly words: readonly string[];
  readonly limits: readonly number[];
  readonly expanded: boolean;
  readonly workspace: string;
  readonly default: unknown;
  readonly examples: readonly unknown[];
  readonly notes: string;
}

/** Reads the rows of docs/settings.md, by the path of the key. */
async function documentedKeys(): Promise<ReadonlyMap<string, Documented>> {
  const page = await readFile(join(import.meta.dirname, "../../../../../docs/settings.md"), "utf8");
  const sections = page.split(/^## /m).filter((section) => /^(?:Top level|`)/.test(section));
  return new Map(
    sections.flatMap((section) => {
      const [, path = ""] = /^`(.*)`\n/.exec(section) ?? [];
      return [...section.matchAll(/^\| `(.*?)` \| (.*?) \| (.*?) \| (.*?) \| (.*) \|$/gm)].map(
        ([, name = "", type = "", expanded = "", workspace = "", notes = ""]) =>
          [
            path === "" ? name : `${path}.${name}`,
            {
              type: type.startsWith("`") ? "text" : type.replace(/,.*/, ""),
              words: [...type.matchAll(/`"(.*?)"`/g)].map(([, word = ""]) => word),
              limits: [...type.matchAll(/\d+/g)].map(Number),
              expanded: expanded === "yes",
              workspace,
              default: valuesIn(notes, /Default: `(.*?)`\./g).at(0),
              examples: valuesIn(notes, /Example: `(.*?)`\.(?= |$)/g),
              notes: notes.replaceAll("\\|", "|"),
            },
          ] as const,
      );
    }),
  );
}

function valuesIn(notes: string, pattern: RegExp): readonly unknown[] {
  return [...notes.matchAll(pattern)].map(([, json = ""]) => JSON.parse(json));
}

const typeWords: Readonly<Record<LeafKey["type"], string>> = {
  text: "text",
  switch: "true or false",
  number: "number",
  list: "list of texts",
  texts: "name → text",
  lists: "name → list of texts",
  section: "object",
};

test("every key has the type, limits, default, scope and examples that docs/settings.md tells the user", async () => {
  const documented = await documentedKeys();
  const keys = leafKeys().map(({ path, key }) => [path.join("."), key] as const);
  expect(keys.map(([path]) => path).sort()).toEqual([...documented.keys()].sort());
  for (const [path, key] of keys) {
    const { notes, ...facts } = documented.get(path) ?? {};
    expect([path, facts]).toEqual([
      path,
      {
        type: typeWords[key.type],
        words: key.type === "text" ? (key.oneOf ?? []) : [],
        limits: key.type === "number" ? [key.minimum, key.maximum] : [],
        expanded: key.expanded ?? false,
        workspace: key.workspace,
        default: "default" in key ? key.default : undefined,
        examples: key.examples ?? [],
      },
    ]);
    const ignored = key.ignored === undefined ? "" : ` Ignored: ${key.ignored}`;
    expect(notes?.replace(/(?: (?:Default|Example): `.*`\.)+$/, "")).toBe(key.description + ignored);
  }
});

test("the JSON Schema has the shape of each kind of key", () => {
  const { properties, ...top } = settingsJsonSchema();
  const { fairlead, mcpServers } = properties as Record<string, Record<string, unknown>>;
  expect(top).toEqual({
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Fairlead settings",
    type: "object",
    description:
      "Settings of Gemini CLI and Fairlead. Keys that are not listed here belong to other programs and are left alone.",
    additionalProperties: true,
  });
  const entry = {
    command: { type: "string", "x-expanded": true, "x-workspace": "once the folder is trusted and the entry approved" },
    env: { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } },
    args: { type: "array", items: { type: "string" } },
    type: { type: "string", enum: ["stdio", "http", "sse", "streamable-http"] },
    trust: { type: "boolean", default: false },
    oauth: {
      additionalProperties: false,
      properties: {
        tokenParamName: {
          type: "string",
          deprecated: true,
          description: "The query parameter for the token. Ignored: Tokens are never put into URLs.",
        },
      },
    },
  };
  expect(mcpServers).toMatchObject({
    type: "object",
    additionalProperties: { type: "object", additionalProperties: false, properties: entry },
  });
  // An address with a variable is no URI, so editors must not check it.
  for (const member of ["url.format", "httpUrl.format", "command.deprecated"])
    expect(mcpServers).not.toHaveProperty(`additionalProperties.properties.${member}`);
  expect(fairlead).toMatchObject({
    properties: {
      clientMetadataUrl: { type: "string", format: "uri" },
      toolBudget: { type: ["object", "number"] },
      permissions: {
        properties: { servers: { type: "object", additionalProperties: { type: "array", items: { type: "string" } } } },
      },
      servers: { additionalProperties: { properties: { machineAuth: { type: ["object", "boolean"] } } } },
    },
  });
});
