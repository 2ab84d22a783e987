import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createReader } from "../declarations.mjs";

const folder = mkdtempSync(join(tmpdir(), "declarations-"));
afterAll(() => rmSync(folder, { recursive: true }));

const index = join(folder, "index.d.ts");
writeFileSync(index, 'export { type A, b as c } from "./a.ts";\nexport type * from "./star.ts";\n');
writeFileSync(
  join(folder, "a.d.ts"),
  `import type { Far } from "./star.ts";
/** The first. Größe. */
export interface A<T> { readonly inner: Hidden<T>; readonly far: Far; }
interface Hidden<T> { readonly value: T; }
export declare function b(): void;
`,
);
writeFileSync(join(folder, "star.d.ts"), "export type Far = string;\n");
const reader = createReader(new Map());

test("names are found where they are declared, through renaming and stars", () => {
  expect(reader.publicNames(index).map(({ name, declared }) => [name, declared.name])).toEqual([
    ["A", "A"],
    ["Far", "Far"],
    ["c", "b"],
  ]);
});

test("a declaration has its comment, its text and the types that it mentions", () => {
  const [a] = reader.declarations({ file: join(folder, "a.d.ts"), name: "A" });
  expect(a).toMatchObject({ comment: "The first. Größe.", mentions: { types: ["Hidden", "Far"], values: [] } });
  expect(a.text).toBe("export interface A<T> { readonly inner: Hidden<T>; readonly far: Far; }");
});

test("a mentioned type is traced to its file", () => {
  expect(reader.resolve(join(folder, "a.d.ts"), "Far")).toEqual({ file: join(folder, "star.d.ts"), name: "Far" });
  expect(reader.resolve(join(folder, "a.d.ts"), "Hidden")).toEqual({ file: join(folder, "a.d.ts"), name: "Hidden" });
  expect(reader.resolve(join(folder, "a.d.ts"), "Promise")).toBeUndefined();
});

test("an export that is declared nowhere is an error", () => {
  const broken = join(folder, "broken.d.ts");
  writeFileSync(broken, 'export type { Gone } from "./star.ts";\n');
  expect(() => reader.publicNames(broken)).toThrow("exports Gone, which is declared nowhere");
});
