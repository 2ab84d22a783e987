import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { spawnFailure } from "../../src/stdio/spawn-failure.ts";
import type { StdioTarget } from "../../src/target.ts";

const failed = (code: string): Error => Object.assign(new Error("spawn failed"), { code });

async function why(code: string, target: Partial<StdioTarget> & Pick<StdioTarget, "cwd">): Promise<string> {
  const { message } = await spawnFailure(
    { kind: "stdio", command: "tool", args: [], env: {}, ...target },
    failed(code),
  );
  return message;
}

test.each([
  ["E2BIG", "its arguments and environment are longer than the system allows"],
  ["EMFILE", "too many files are open"],
  ["ENFILE", "too many files are open"],
  ["EAGAIN", "the system cannot start another process (no memory, or too many processes)"],
  ["ENOMEM", "the system cannot start another process (no memory, or too many processes)"],
  ["ERR_INVALID_ARG_VALUE", "the command is empty, or its command line or environment contains a NUL character"],
  ["EOTHER", "spawn failed"],
])("the system's code %s is explained", async (code, reason) => {
  const cause = failed(code);
  const error = await spawnFailure({ kind: "stdio", command: "tool", args: [], env: {}, cwd: "/" }, cause);
  expect(error).toMatchObject({
    code: "spawn_failed",
    message: `cannot start "tool": ${reason}`,
    evidence: { step: "spawn" },
    cause,
  });
});

test("a folder that is missing or a file is the reason, before anything about the command", async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write("file", "");
  for (const code of ["ENOENT", "ENOTDIR", "EACCES"]) {
    expect(await why(code, { cwd: file })).toBe(`cannot start "tool": cwd is not a folder: ${file}`);
    const gone = join(folder.path, "gone");
    expect(await why(code, { cwd: gone })).toBe(`cannot start "tool": cwd does not exist: ${gone}`);
  }
});

test("a command that is missing is named by its path, or as missing in PATH", async () => {
  await using folder = await temporaryFolder();
  const cwd = folder.path;
  const missing = join(cwd, "bin", "tool");
  for (const command of ["bin/tool", missing])
    expect(await why("ENOENT", { cwd, command })).toBe(
      `cannot start "${command}": the file does not exist: ${missing}`,
    );
  const inPath = "the command is not in the server's PATH";
  expect(await why("ENOENT", { cwd, env: { PATH: "/nowhere" } })).toBe(`cannot start "tool": ${inPath}`);
  expect(await why("ENOENT", { cwd })).toBe(`cannot start "tool": ${inPath}, which is empty`);
  expect(await why("ENOENT", { cwd, env: { PATH: "" } })).toBe(`cannot start "tool": ${inPath}, which is empty`);
});

test("a command that is there lacks its interpreter or is not executable", async () => {
  await using folder = await temporaryFolder();
  const cwd = folder.path;
  const file = await folder.write("bin/tool", "#!/nowhere/interpreter\n");
  await chmod(file, 0o700);
  const interpreter = `the interpreter named in the first line of ${file} does not exist`;
  expect(await why("ENOENT", { cwd, command: "./bin/tool" })).toBe(`cannot start "./bin/tool": ${interpreter}`);
  expect(await why("EACCES", { cwd, command: file })).toBe(`cannot start "${file}": ${file} is not an executable file`);
  // The first folder of PATH that has the file counts; folders are relative to the server's folder.
  const paths: readonly Record<string, string>[] = [{ PATH: "/nowhere:bin" }, { Path: `${cwd}/bin:/nowhere` }];
  for (const env of paths) expect(await why("ENOENT", { cwd, env })).toBe(`cannot start "tool": ${interpreter}`);
});
