import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stdioServer, temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import type { ConsentAnswer } from "../../src/consent/inbox.ts";
import { gatewayScene } from "../support/gateway-scene.ts";
import { officialClient } from "../support/official-client.ts";

/**
 * A gateway without rules, so that every tool asks. Each folder is a trusted workspace with a server `files` of its
 * own.
 */
async function scene() {
  const folder = await temporaryFolder();
  const gateway = await gatewayScene({ servers: {}, rules: "", env: { FAIRLEAD_TRUST_WORKSPACE: "true" } });
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
