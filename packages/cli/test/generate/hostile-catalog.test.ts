import { Script } from "node:vm";
import { compileCheck } from "@fairlead/core/execute/validation/compile-schema";
import { toSafeText } from "@fairlead/core/text/safe-text";
import { scaled, seed, temporaryFolder } from "@fairlead/test-servers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commandFile } from "../../src/generate/command-file.ts";
import { toLiteralType } from "../../src/generate/source-text.ts";
import { createTypeDeclarations } from "../../src/generate/type-declarations.ts";
import { typescriptModule } from "../../src/generate/typescript-module.ts";
import { hostileTool, sampleOf, soundSchema } from "../support/hostile-catalog.ts";
import { linkPackages, typeCheck } from "../support/type-check.ts";

const seeded = seed();
const names = ["a", "*/", "`${1}`", "\u202eb", "Promise", "call"];
const servers = fc
  .sample(fc.array(hostileTool, { minLength: 4, maxLength: 4 }), { numRuns: scaled(60, 6), seed: seeded })
  .map((tools, at) => ({ name: names[at % names.length] ?? "", tools }));

const sound = fc.sample(soundSchema, { numRuns: scaled(400, 40), seed: seeded });

describe(`files for hostile catalogs (seed ${seeded})`, () => {
  test("are valid TypeScript, and every value that validation accepts is of its type", async () => {
    await using folder = await temporaryFolder();
    await linkPackages(folder);
    const files: string[] = [];
    for (const [at, server] of servers.entries()) {
      const text = typescriptModule([server, { ...server, name: "other" }]);
      // The file can also be printed.
      expect(toSafeText(text)).toBe(text);
      files.push(`module${at}.ts`);
      await folder.write(`module${at}.ts`, text);
    }
    const { text, count } = assignments(sound);
    expect(count).toBeGreaterThan(sound.length / 2);
    await folder.write("values.ts", text);
    files.push("values.ts");
    const complaints = (await typeCheck(folder, ...files)).split("\n").filter((line) => /^\S/.test(line));
    // TypeScript expects a property of the type, even if all are optional and others are allowed.
    expect(complaints.filter((line) => !line.includes("TS2559"))).toEqual([]);
  });

  test("are valid programs", () => {
    for (const server of servers) {
      const [shebang = "", ...lines] = commandFile(server).split("\n");
      expect(shebang).toBe("#!/usr/bin/env node");
      // Parsed, not run.
      const body = lines.filter((line) => !line.startsWith("import ")).join("\n");
      expect(() => new Script(`async () => {${body}\n}`)).not.toThrow();
    }
  });
});

/** Declares values that validation accepts, and assigns each to the type of its schema. */
function assignments(schemas: readonly object[]): { readonly text: string; readonly count: number } {
  const types = createTypeDeclarations([]);
  const lines = schemas.flatMap((schema, at) => {
    const { text } = types.write(schema, types.claim("Root"));
    const check = compileCheck(JSON.stringify(schema), false);
    const accepted = [0, 1, 2, 3]
      .map((turn) => sampleOf(schema, schema, turn))
      // The validator leaves out members with this name, so it also accepts wrong ones.
      .filter((value) => !JSON.stringify(value).includes('"__proto__"'))
      .filter((value) => check(value).issues.length === 0 && check(value).warnings.length === 0);
    return accepted.map((value, turn) => {
      const name = `value${at}_${turn}`;
      return `declare const ${name}: ${toLiteralType(value) ?? "never"};\nexport const typed_${name}: ${text} = ${name};`;
    });
  });
  return { text: [...types.declarations, ...lines, ""].join("\n"), count: lines.length };
}
