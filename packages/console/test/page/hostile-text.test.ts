import { describe, expect, test } from "vitest";
import type { CallRow, ServerRow } from "../../src/protocol/rows.ts";
import { go, hasChromium, useChromium } from "./support/console-window.ts";
import { deceptions } from "./support/deceptions.ts";
import { requestQuestion } from "./support/sample-questions.ts";
import { sampleDetail } from "./support/sample-state.ts";
import { ScriptedSource } from "./support/scripted-source.ts";

const chromium = useChromium("console, hostile text");

/** Markup, control characters, hidden and reversing characters, very many marks. */
const hostile =
  "<img src=http://evil.example/x onerror=alert(1)>\u001b[2J\u0007\u202etxt.exe\u2066\u200b\u{e0041}<script>alert(1)</script>javascript:alert(1)" +
  "e\u0301".repeat(20) +
  "\u0301".repeat(400);

/** A host in which every text is hostile. */
function hostileSource(): ScriptedSource {
  const now = Date.now();
  const name = `bad${hostile}`;
  const servers: readonly ServerRow[] = [
    {
      name,
      status: "disconnected",
      reason: "server_exited",
      cause: hostile,
      evidence: hostile,
      lastError: hostile,
      next: { label: "Copy", shell: `fairlead ${hostile}`, text: hostile },
      transport: "stdio",
      scope: "user",
      since: now,
      isCached: false,
      calls: 1,
      changed: 1,
    },
  ];
  const call: CallRow = {
    id: "c",
    startedAt: now,
    server: name,
    kind: "tool",
    name: hostile,
    from: hostile,
    state: "running",
    progress: { progress: 1, message: hostile },
  };
  const request = requestQuestion(now, {
    server: name,
    name: hostile,
    from: hostile,
    folder: hostile,
    description: hostile,
    hints: hostile,
    reason: hostile,
    args: { [hostile]: hostile, list: [hostile] },
    change: [{ member: hostile, before: hostile, after: `${hostile}!` }],
  });
  const form = {
    id: "q-form",
    kind: "form",
    server: name,
    since: now,
    from: hostile,
    message: hostile,
    schema: {
      type: "object",
      properties: { [hostile]: { type: "string", title: hostile, description: hostile, enum: [hostile, "b"] } },
    },
  } as const;
  return new ScriptedSource(
    {
      servers,
      calls: [call],
      questions: [request, form],
      problems: [hostile],
      workspace: { root: `/home/${hostile}`, isTrusted: true, why: hostile },
    },
    {
      "servers/show": () => ({
        ...sampleDetail("db"),
        name,
        definedAt: hostile,
        instructions: hostile,
        notes: [hostile],
        fields: [{ label: hostile, values: [hostile] }],
        prompts: [{ name: hostile, description: hostile }],
      }),
      "servers/log": () => ({ file: hostile, lines: [hostile, hostile] }),
      "servers/test": () => ({ steps: [{ label: hostile, isOk: false, text: hostile }] }),
      "tools/list": () => ({ tools: [] }),
      "history/list": () => ({
        entries: [
          {
            id: "h1",
            time: new Date(now).toISOString(),
            server: name,
            tool: hostile,
            kind: "tool",
            client: hostile,
            workspace: hostile,
            argumentsDigest: "d",
            arguments: { [hostile]: hostile },
            decision: "allow",
            rule: hostile,
            mode: "default",
            outcome: "ok",
            durationMs: 1,
          },
        ],
      }),
    },
  );
}

describe.runIf(hasChromium)("text of servers, clients and files", () => {
  test("rule 11: is text on every view: nothing runs, nothing is requested, no character hides or reverses others", async () => {
    const source = hostileSource();
    await using here = await chromium.open({ source });
    const { page } = here;
    const name = encodeURIComponent(source.state.servers[0]?.name ?? "");
    const views = [
      "#/now",
      "#/servers",
      `#/servers/${name}`,
      `#/servers/${name}/log`,
      `#/servers/${name}/changes`,
      `#/servers/${name}/policy`,
      `#/servers/${name}/test`,
      "#/inbox/q-write",
      "#/inbox/q-form",
      "#/history",
      "#/history?entry=h1",
    ];
    for (const view of views) {
      await go(page, view);
      if (view.endsWith("/test")) {
        await page.getByRole("button", { name: "Run the test" }).click();
        await page.locator(".test-steps").waitFor();
      }
      expect([view, ...(await page.evaluate(deceptions))]).toEqual([view]);
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect([view, beyond]).toEqual([view, 0]);
    }
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("option", { name: /bad/ }).first().waitFor();
    expect(await page.evaluate(deceptions)).toEqual([]);
    expect(here.requests.filter((url) => !url.startsWith(`http://127.0.0.1:${here.served.port}/`))).toEqual([]);
    expect(here.complaints).toEqual([]);
  });
});
