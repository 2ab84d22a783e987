import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { machine } from "../support/machine.ts";

const repository = fileURLToPath(new URL("../../../../", import.meta.url));

/** The fenced blocks of a page. `fence` is the text after the opening back quotes. */
function blocksOf(page: string): readonly { readonly fence: string; readonly code: string; readonly at: string }[] {
  const lines = readFileSync(join(repository, page), "utf8").split("\n");
  const blocks: { fence: string; code: string; at: string }[] = [];
  let open: { readonly fence: string; readonly line: number } | undefined;
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith("```")) continue;
    if (open === undefined) open = { fence: line.slice(3).trim(), line: index };
    else {
      // A fence with a word inside a block is a block inside a block.
      expect(line, `${page}:${index + 1}`).toBe("```");
      blocks.push({
        fence: open.fence,
        code: lines.slice(open.line + 1, index).join("\n"),
        at: `${page}:${open.line + 1}`,
      });
      open = undefined;
    }
  }
  expect(open, `${page} ends inside a block`).toBeUndefined();
  return blocks;
}

const pages = ["README.md", ...markdownIn("docs")];

function markdownIn(folder: string): readonly string[] {
  return readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name))
    .sort();
}

test("no page has a block inside a block", () => {
  expect(pages.flatMap(blocksOf).length).toBeGreaterThan(100);
});

test("every TypeScript block of README and docs compiles under tsc --strict, in an empty project", async () => {
  await using here = await machine();
  // The API reference shows declarations, not programs.
  const all = pages.filter((page) => !page.startsWith("docs/api/")).flatMap(blocksOf);
  const programs = all.filter(({ fence }) => fence === "ts");
  const fragments = all.filter(({ fence }) => fence === "ts fragment");
  expect(all.filter(({ fence }) => /^(?:ts|typescript)\b/.test(fence))).toHaveLength(
    programs.length + fragments.length,
  );
  for (const name of ["@fairlead/core", "@fairlead/wire", "@types/node", "undici-types", "vitest"]) {
    const link = join(here.project, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(repository, "node_modules", name), link);
  }
  expect((await here.run("generate", "ts", "demo", "-o", join(here.project, "demo.ts"))).code).toBe(0);
  await here.write("project/package.json", { type: "module" });
  await here.write("project/tsconfig.json", {
    compilerOptions: {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: "es2022",
      module: "nodenext",
      lib: ["es2023", "esnext.disposable"],
      types: ["node"],
    },
    include: ["*.ts"],
  });
  for (const [index, { code, at }] of programs.entries())
    await here.write(`project/block-${index}.ts`, `// ${at}\n${code}\nexport {};\n`);
  const tsc = join(repository, "node_modules/typescript/bin/tsc");
  const child = spawn(process.execPath, [tsc, "-p", "."], { cwd: here.project, env: here.env });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  const where = stdout.replaceAll(/^block-(\d+)\.ts/gm, (_file, index: string) => programs[Number(index)]?.at ?? "");
  expect(where + stderr).toBe("");
  expect(programs.length).toBeGreaterThan(3);
  process.stdout.write(`${programs.length} TypeScript blocks of the docs compile; ${fragments.length} are fragments\n`);
});
