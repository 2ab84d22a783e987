import { readFile } from "node:fs/promises";
import { behaves, stdioServer, until, type WebReply, webServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { processesOf } from "./left-over.ts";
import { machine, userFile } from "./machine.ts";
import { runProcess } from "./process.ts";
import { openTerminal } from "./terminal.ts";

/** Everything works but its tool, which never answers. */
const neverAnswers: WebReply = (request, response) => {
  if (!request.body.includes('"tools/call"')) behaves(request, response);
};

/** What the server was told about its call, in order. */
type Diary = () => Promise<readonly string[]>;

async function withEndless(kind: "stdio" | "http") {
  const here = await machine();
  const file = await here.write("diary", "");
  const web = await webServer(neverAnswers);
  const pipe = stdioServer("never-ends", file);
  const server = kind === "stdio" ? pipe : { httpUrl: `${web.origin}/mcp` };
  await here.write(userFile, { mcpServers: { endless: server } });
  const told: Diary = async () => {
    const lines = kind === "stdio" ? (await readFile(file, "utf8")).split("\n") : web.seen.map(({ body }) => body);
    return lines.flatMap((line) => /tools\/call|notifications\/cancelled/.exec(line)?.[0] ?? []);
  };
  return {
    here,
    told,
    async [Symbol.asyncDispose]() {
      await web[Symbol.asyncDispose]();
      await here[Symbol.asyncDispose]();
    },
  };
}

async function untilTold(told: Diary, word: string): Promise<void> {
  let isTold = false;
  const look = async (): Promise<void> => {
    isTold = (await told()).includes(word);
  };
  await until(() => {
    void look();
    return isTold;
  });
}

describe.each(["stdio", "http"] as const)("a call over %s that never ends", (kind) => {
  test("Ctrl-C ends it, and the server is told", async () => {
    await using place = await withEndless(kind);
    const { here, told } = place;
    const terminal = openTerminal(here, "call", "endless.echo", "text=1");
    await untilTold(told, "tools/call");
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
    expect(stderr).toMatch(/^fairlead: endless\.echo: .* 300 ms/);
    expect(await told()).toEqual(["tools/call", "notifications/cancelled"]);
    expect(processesOf(here)).toEqual([]);
  });
});
