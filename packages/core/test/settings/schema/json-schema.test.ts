import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { settingsJsonSchema } from "../../../src/settings/schema/json-schema.ts";
import { leafKeys } from "../../../src/settings/schema/schema.ts";
import { createWorld } from "../../support/load-settings.ts";

const repository = join(import.meta.dirname, "../../../../..");

interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
}

function inside(schema: Schema | undefined, name: string): Schema | undefined {
  const others = typeof schema?.additionalProperties === "object" ? schema.additionalProperties : undefined;
  return name === "<name>" ? others : schema?.properties?.[name];
}

describe("the published JSON Schema", () => {
  test("describes every key", () => {
    const schema = settingsJsonSchema() as Schema;
    for (const { path, key } of leafKeys())
      expect([path, path.reduce(inside, schema as Schema | undefined)?.description]).toEqual([
        path,
        expect.stringContaining(key.description),
      ]);
  });

  test("is plain JSON that flags unknown keys only where all keys are ours", () => {
    const schema = settingsJsonSchema();
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    expect(schema).toMatchObject({
      additionalProperties: true,
      properties: {
        mcp: { additionalProperties: false },
        security: { additionalProperties: true, properties: { folderTrust: { additionalProperties: false } } },
        mcpServers: {
          additionalProperties: {
            additionalProperties: false,
            oneOf: [{ required: ["command"] }, { required: ["url"] }, { required: ["httpUrl"] }],
            properties: { timeout: { type: "number", minimum: 1, maximum: 2_147_483_647, default: 600_000 } },
          },
        },
      },
    });
  });
});

describe("docs/settings.md", () => {
  test("is what the generator prints (node scripts/settings-docs.mjs --write)", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(repository, "scripts/settings-docs.mjs")]);
    expect(await readFile(join(repository, "docs/settings.md"), "utf8")).toBe(stdout);
  });

  test("shows settings that work", async () => {
    const page = await readFile(join(repository, "docs/settings.md"), "utf8");
    const [, example = ""] = /```jsonc\n(.*?)```/s.exec(page) ?? [];
    await using world = await createWorld();
    await world.writeUser(example);
    const { servers, problems } = await world.load();
    expect([servers.map(({ name }) => name), problems]).toEqual([["files", "example"], []]);
  });
});
