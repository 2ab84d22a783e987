import { readFile } from "node:fs/promises";
import { behaves, stdioServer, webServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { untilWritten } from "../support/file-event.ts";
import { processesOf } from "../support/left-over.ts";
import { machine, userFile } from "../support/machine.ts";
import { runProcess } from "../support/process.ts";
import { openTerminal } from "../support/terminal.ts";

async function withEndless(kind: "stdio" | "http") {
  const here = await machine();
  const file = await here.write("diary", "");
  let onCall = (): void => {};
  const calledOnTheWeb = new Promise<void>((resolve) => {
    onCall = resolve;
  });
  // Everything works but its tool, which never answers.
  const web = await webServer((request, response) => {
    if (request.body.includes('"tools/call"')) onCall();
    else behaves(request, response);
  });
  const pipe = stdioServer("never-ends", file);
  const server = kind === "stdio" ? pipe : { httpUrl: `${web.origin}/mcp` };
  await here.write(userFile, { mcpServers: { endless: server } });
  /** What the server was told about its call, in order. */
  const told = async (): Promise<readonly string[]> => {
    const lines = kind === "stdio" ? (await readFile(file, "utf8")).split("\n") : web.seen.map(({ body }) => body);
    return lines.flatMap((line) => /tools\/call|notifications\/cancelled/.exec(line)?.[0] ?? []);
  };
  return {
    here,
    told,
    /** Resolves when the server has got its call. */
    called: () => (kind === "stdio" ? untilWritten(file, (text) => text.includes("tools/call")) : calledOnTheWeb),
    async [Symbol.asyncDispose]() {
      await web[Symbol.asyncDispose]();
      await here[Symbol.asyncDispose]();
    },
  };
}

describe.each(["stdio", "http"] as const)("a call over %s that never ends", (kind) => {
  test("Ctrl-C ends it, and the server is told", async () => {
    await using place = await withEndless(kind);
    const { here, told } = place;
    await using terminal = openTerminal(here, "call", "endless.echo", "text=1");
    await place.called();
    await terminal.until(/^. endless\.echo {2}\d+ s$/);
    terminal.type("\u0003");
    expect(await terminal.exitCode).toBe(130);
    expect(await told()).toEqual(["tools/call", "notifications/cancelled"]);
    expect(terminal.screen()).toMatch(/^fairlead: endless\.echo: .*cancelled$/);
    expect(processesOf(here)).toEqual([]);
  });

  test("so does its time, and the server is told", async () => {
    await using place = await withEndless(kind);
    const { here, told } = place;
    const { code, stdout, stderr } = await runProcess(here, "call", "endless.echo", "text=1", "--timeout", "300");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^fairlead: endless\.echo timed out: no response or progress for 300 ms; the request may or may not have run\n/,
    );
    expect(await told()).toEqual(["tools/call", "notifications/cancelled"]);
    expect(processesOf(here)).toEqual([]);
  });
});
