import { expect, test } from "vitest";
import { checkDoors, mostAddresses } from "../../checks/doors.mjs";
import { planted } from "./planted.mjs";

const door = { "core/src/doors/trust.ts": 'export { admit, type Trust } from "../trust/admit.ts";\n' };

async function violationsOf(files) {
  const { violations } = await planted(files, checkDoors);
  return violations;
}

test("a door whose names are all imported, also by a test or for its type, is fine", async () => {
  const violations = await violationsOf({
    ...door,
    "cli/src/a.ts": 'import type { Trust } from "@fairlead/core/trust";\nexport type A = Trust;\n',
    "gateway/test/a.test.ts": 'import { admit as let_in } from "@fairlead/core/trust";\nlet_in();\n',
  });
  expect(violations).toEqual([]);
});

test("a name of a door that no file imports is found", async () => {
  const violations = await violationsOf({
    ...door,
    "cli/src/a.ts": 'import { admit } from "@fairlead/core/trust";\nadmit();\n',
  });
  expect(violations).toEqual(["packages/core/src/doors/trust.ts: no file imports Trust"]);
});

test("a door that does not list its names is found", async () => {
  const violations = await violationsOf({ "core/src/doors/trust.ts": 'export * from "../trust/admit.ts";\n' });
  expect(violations).toEqual(["packages/core/src/doors/trust.ts does not list the names that it exports"]);
});

test("an import() of a door is found, and one of a file of core is fine", async () => {
  const violations = await violationsOf({
    ...door,
    "cli/src/a.ts": [
      'import { admit, type Trust } from "@fairlead/core/trust";',
      'export const load = (): Promise<Trust> => import("@fairlead/core/trust").then(admit);',
      'export const store = () => import("@fairlead/core/files/store");',
    ].join("\n"),
  });
  expect(violations).toEqual([
    "packages/cli/src/a.ts: import() of @fairlead/core/trust loads every file behind this door",
  ]);
});

test("one address too many is found; addresses of tests do not count", async () => {
  const imports = (count) =>
    Array.from({ length: count }, (_, at) => `import "@fairlead/core/files/f${at}";`).join("\n");
  expect(await violationsOf({ "cli/src/a.ts": imports(mostAddresses), "cli/test/a.ts": imports(40) })).toEqual([]);
  expect(await violationsOf({ "gateway/src/a.ts": imports(mostAddresses + 1) })).toEqual([
    `${mostAddresses + 1} addresses of core are used, at most ${mostAddresses} may be`,
  ]);
});
