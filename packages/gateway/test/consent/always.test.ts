import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { programServer, type StdioEntry, stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { ConsentAnswer } from "../../src/consent/inbox.ts";
import { gatewayScene } from "../support/gateway-scene.ts";
import { officialClient } from "../support/official-client.ts";

/**
 * A gateway without rules, so that every tool asks. Each folder is a trusted workspace, with a server `files` of its
 * own or with one of the user's settings.
 */
async function scene(servers: Readonly<Record<string, StdioEntry>> = {}) {
  const folder = await temporaryFolder();
  const gateway = await gatewayScene({ servers, rules: "", env: { FAIRLEAD_TRUST_WORKSPACE: "true" } });
  const watching = await gateway.inbox.watch(() => {});
  let calls = 0;

  /** Answers the next question. Returns whether there was one before the call ended. */
  async function answerNext(answer: ConsentAnswer, isEnded: () => boolean): Promise<boolean> {
    while (!isEnded()) {
      const [entry] = await gateway.inbox.list();
      if (entry !== undefined) {
        await gateway.inbox.answer(entry.id, answer, "the terminal app");
        return true;
      }
      await new Promise(setImmediate);
    }
    return false;
  }

  return {
    folder: folder.path,
    state: gateway.state,
    home: gateway.home,
    async addWorkspace(name: string, notes: string): Promise<string> {
      const cwd = join(folder.path, name);
      await mkdir(join(cwd, ".gemini"), { recursive: true });
      const mcpServers = { files: stdioServer("counted", notes) };
      await writeFile(join(cwd, ".gemini", "settings.json"), JSON.stringify({ mcpServers }));
      return cwd;
    },
    /** A folder whose `server.mjs` is a program of its own, which notes its calls. */
    async addProgram(name: string, notes: string): Promise<string> {
      const cwd = join(folder.path, name);
      await mkdir(cwd, { recursive: true });
      const [script = ""] = programServer("counted").args;
      const program = `import { counted } from ${JSON.stringify(pathToFileURL(script).href)};
counted({ args: [${JSON.stringify(notes)}], input: process.stdin, output: process.stdout });`;
      await writeFile(join(cwd, "server.mjs"), program);
      return cwd;
    },
    /** Calls the tool on a new connection. The person answers if Fairlead asks. */
    async call(cwd: string, client: string, answer: ConsentAnswer): Promise<{ isAsked: boolean; isRun: boolean }> {
      calls += 1;
      const { workspace } = gateway;
      await using connected = await officialClient(
        { gateway: gateway.gateway, workspace: { ...workspace, cwd } },
        "legacy",
        {},
        { name: client, conversation: `conversation ${calls}` },
      );
      let isEnded = false;
      const running = connected.client.callTool({ name: "echo", arguments: { text: `call ${calls}` } }).finally(() => {
        isEnded = true;
      });
      const isAsked = await answerNext(answer, () => isEnded);
      const { isError = false } = await running;
      return { isAsked, isRun: isError !== true };
    },
    async [Symbol.asyncDispose]() {
      await watching[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test("always, given in one folder, covers neither another program of the same name nor the same entry in another folder", async () => {
  await using here = await scene();
  const [notes, others] = [join(here.folder, "notes"), join(here.folder, "other-notes")];
  const shown = await here.addWorkspace("shown", notes);
  const other = await here.addWorkspace("other", others);
  const same = await here.addWorkspace("same", notes);
  expect(await here.call(shown, "claude-code", "always")).toEqual({ isAsked: true, isRun: true });
  expect(await here.call(shown, "claude-code", "no")).toEqual({ isAsked: false, isRun: true });
  expect(await here.call(other, "claude-code", "no")).toEqual({ isAsked: true, isRun: false });
  expect(await here.call(same, "claude-code", "no")).toEqual({ isAsked: true, isRun: false });
  expect(existsSync(others) ? readFileSync(others, "utf8") : "").not.toContain("call echo");
});

test("always, given to one program, covers no other program, and is no rule that other programs read", async () => {
  await using here = await scene();
  const shown = await here.addWorkspace("shown", join(here.folder, "notes"));
  expect(await here.call(shown, "claude-code", "always")).toEqual({ isAsked: true, isRun: true });
  expect(await here.call(shown, "codex", "no")).toEqual({ isAsked: true, isRun: false });
  expect(existsSync(join(here.home, ".gemini", "policies", "fairlead.toml"))).toBe(false);
  const saved = JSON.parse(await readFile(join(here.state, "approvals.json"), "utf8")) as object;
  // Earlier versions read only `tools`, and would take the approval for one of all senders.
  expect(saved).toMatchObject({ tools: [], clientTools: [{ server: "files", tool: "echo", client: "claude-code" }] });
});

test("always, given in one folder to an entry of the user's settings, does not cover another folder's own program", async () => {
  await using here = await scene({ files: { command: process.execPath, args: ["server.mjs"] } });
  const others = join(here.folder, "other-notes");
  const shown = await here.addProgram("shown", join(here.folder, "notes"));
  const other = await here.addProgram("other", others);
  expect(await here.call(shown, "claude-code", "always")).toEqual({ isAsked: true, isRun: true });
  expect(await here.call(shown, "claude-code", "no")).toEqual({ isAsked: false, isRun: true });
  expect(await here.call(other, "claude-code", "no")).toEqual({ isAsked: true, isRun: false });
  expect(existsSync(others) ? readFileSync(others, "utf8") : "").not.toContain("call echo");
});

test("always, given in one folder to an entry of the user's settings with an absolute program, covers every folder", async () => {
  await using here = await scene({ files: programServer("counted", "/dev/null") });
  const shown = await here.addProgram("shown", "/dev/null");
  const other = await here.addProgram("other", "/dev/null");
  expect(await here.call(shown, "claude-code", "always")).toEqual({ isAsked: true, isRun: true });
  expect(await here.call(other, "claude-code", "no")).toEqual({ isAsked: false, isRun: true });
});
