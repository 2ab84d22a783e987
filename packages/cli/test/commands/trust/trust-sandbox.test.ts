import { hasBubblewrap, programServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { machine, projectFile } from "../../support/machine.ts";
import { openTerminalHere } from "../../support/terminal-here.ts";
import { openScene } from "../../support/tui/session-scene.ts";

const canBox = hasBubblewrap("the approval of a workspace's servers");
const { command, args } = programServer("evaluator");
const entry = { command, args: [...args, "docs"] };

describe.runIf(canBox)("the approval of a workspace's server", () => {
  test("offers a sandbox, writes it into the workspace's settings, and approves exactly that", async () => {
    await using here = await machine({ [projectFile]: { mcpServers: { a: entry } }, "project/docs/a.md": "x" });
    await using terminal = openTerminalHere(here, "trust", "add");
    await terminal.until(/Trust .*\? \[y\/N\]\s*$/);
    terminal.type("y\r");
    await terminal.until(
      /Approve a\? s: in a sandbox, which is written into \.gemini\/settings\.json;[\s\S]*\[N\/s\/y\]\s*$/,
    );
    terminal.type("s\r");
    await terminal.until(/May it see \.\/docs\?[\s\S]*\[R\/w\/n\]\s*$/);
    terminal.type("\r");
    expect(await terminal.exitCode).toBe(0);
    expect(JSON.parse(await here.read(projectFile))).toEqual({
      mcpServers: { a: entry },
      fairlead: { servers: { a: { sandbox: { read: ["./docs"] } } } },
    });
    const { code, stdout } = await here.run("mcp", "list");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/sandboxed: reads .*docs, no network/)]);
    const again = await here.run("trust", "add");
    expect(again.stderr).toContain("already approved: a");
  });

  test("--sandbox on writes one without a question; an entry that says off keeps it", async () => {
    const sandbox = "off";
    await using here = await machine({
      [projectFile]: { mcpServers: { a: entry, b: entry }, fairlead: { servers: { b: { sandbox } } } },
    });
    const { code, stdout } = await here.run("trust", "add", "--yes", "--sandbox", "on");
    expect([code, stdout]).toEqual([0, expect.stringContaining('fairlead.servers.a.sandbox = "on" in ')]);
    expect(JSON.parse(await here.read(projectFile))).toMatchObject({
      fairlead: { servers: { a: { sandbox: "on" }, b: { sandbox } } },
    });
    const { stdout: listed } = await here.run("mcp", "list", "--json");
    expect(JSON.parse(listed)).toMatchObject({
      servers: [
        { name: "a", sandbox: { hosts: [] } },
        { name: "b", sandbox },
      ],
    });
    expect(await here.run("trust", "add", "--yes", "--sandbox", "maybe")).toMatchObject({ code: 2 });
  });

  test("the app offers it in its one question, with what the program reads", async () => {
    await using here = await machine({ [projectFile]: { mcpServers: { a: entry } }, "project/docs/a.md": "x" });
    await using scene = await openScene(here);
    const question = await scene.asked("trust");
    expect(question).toMatchObject({ servers: [{ offered: "sandboxed: reads ./docs, no network" }] });
    scene.session.answer(question.key, { kind: "trust", value: "sandboxed" });
    await scene.shown(/Trusted: .* Approved: a/);
    expect(JSON.parse(await here.read(projectFile))).toMatchObject({
      fairlead: { servers: { a: { sandbox: { read: ["./docs"] } } } },
    });
    await scene.until(({ servers }) => servers.some(({ name, status }) => name === "a" && status === "connected"));
  });

  test("a wider sandbox asks again, and the question shows both", async () => {
    const boxed = (sandbox: unknown) => ({
      mcpServers: { a: entry },
      fairlead: { servers: { a: { sandbox } } },
    });
    await using here = await machine({ [projectFile]: boxed("on"), "project/docs/a.md": "x" });
    await here.run("trust", "add", "--yes");
    await here.write(projectFile, boxed({ hosts: ["example.com"] }));
    const { code, stderr } = await here.run("trust", "add");
    expect(code).not.toBe(0);
    expect(stderr).toContain(
      "a (has changed since you approved it: it was sandboxed: no network; it is now sandboxed: reaches example.com)",
    );
    await here.write(projectFile, boxed("off"));
    const off = await here.run("trust", "add");
    expect(off.stderr).toContain("it was sandboxed: no network; it is now not sandboxed");
  });
});
