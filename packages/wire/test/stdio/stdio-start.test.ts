import { randomBytes } from "node:crypto";
import { chmod } from "node:fs/promises";
import { processesWith, temporaryFolder } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { failure, openServer, script, stays } from "../support/stdio-server.ts";

describe("a command that cannot be started", () => {
  const start = (target: Parameters<typeof openServer>[0]) => failure(openServer(target));
  const base = script("");

  test("is not in the PATH", async () => {
    const error = await start({ ...base, command: "no-such-command", env: { PATH: "/usr/bin:/bin" } });
    expect(error).toMatchObject({ code: "spawn_failed", evidence: { step: "spawn" }, cause: { code: "ENOENT" } });
    expect(error.message).toBe('cannot start "no-such-command": the command is not in the server\'s PATH');
  });

  test("is no file", async () => {
    const error = await start({ ...base, command: "/no/such/file" });
    expect(error).toMatchObject({ code: "spawn_failed" });
    expect(error.message).toContain("the file does not exist: /no/such/file");
  });

  test("has a working folder that does not exist, or is a file", async () => {
    const missing = await start({ ...base, cwd: "/no/such/folder" });
    expect(missing).toMatchObject({ code: "spawn_failed" });
    expect(missing.message).toContain("cwd does not exist: /no/such/folder");
    const file = await start({ ...base, cwd: process.execPath });
    expect(file).toMatchObject({ code: "spawn_failed" });
    expect(file.message).toContain(`cwd is not a folder: ${process.execPath}`);
  });

  test("is not executable, or a folder, or lacks its interpreter", async () => {
    await using folder = await temporaryFolder();
    const plain = await folder.write("plain", "text");
    const denied = await start({ ...base, command: plain });
    expect(denied).toMatchObject({ code: "spawn_failed" });
    expect(denied.message).toContain(`${plain} is not an executable file`);
    expect((await start({ ...base, command: folder.path })).message).toContain("is not an executable file");
    const odd = await folder.write("odd", "#!/no/such/interpreter\n");
    await chmod(odd, 0o755);
    expect((await start({ ...base, command: odd })).message).toContain("does not exist");
  });

  test("has more arguments than the system takes", async () => {
    const error = await start({ ...base, args: ["x".repeat(4 * 1024 * 1024)] });
    expect(error).toMatchObject({ code: "spawn_failed", cause: { code: "E2BIG" } });
  });

  test.each([
    ["command", { command: "a\0b" }],
    ["command", { command: "" }],
    ["argument", { args: ["a\0b"] }],
    ["environment", { env: { A: "a\0b" } }],
    ["environment name", { env: { "A\0B": "a" } }],
    ["folder", { cwd: "/tmp\0/x" }],
  ])("has a %s with a NUL, or none", async (_, change) => {
    expect(await start({ ...base, ...change })).toMatchObject({ code: "spawn_failed" });
  });

  test("has a NUL in a value: the message says so and does not quote the value, which may be a secret", async () => {
    for (const change of [{ env: { TOKEN: "hush\0hush" } }, { args: ["--token", "hush\0hush"] }]) {
      const error = await start({ ...base, ...change });
      expect(error.message).toBe(
        `cannot start "${base.command}": the command is empty, or its command line or environment contains a NUL character`,
      );
    }
  });

  test("is cancelled before, or while it starts: nothing of it is left", async () => {
    const mark = randomBytes(8).toString("hex");
    const target = { ...script(stays), env: { MARK: mark } };
    expect((await failure(openServer(target, { signal: AbortSignal.abort() }))).code).toBe("cancelled");
    const controller = new AbortController();
    const opening = failure(openServer(target, { signal: controller.signal }));
    controller.abort();
    expect((await opening).code).toBe("cancelled");
    expect(processesWith(mark)).toEqual([]);
  });
});
