import { processesWith, programServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import { connection, script } from "./connection.ts";

const echo = programServer("well-behaved");
const entryAt = expect.stringMatching(/ \(.*settings\.json:3\)\.$/);

describe("a program that is a server", () => {
  test("is connected, and every step on the way is told", async () => {
    await using server = await connection(echo, { env: { LC_ALL: "C", MY_SECRET: "x" } });
    const { serverInfo } = await server.open();
    const milliseconds = expect.any(Number);
    expect(server.steps).toEqual([
      {
        step: "definition",
        transport: { kind: "stdio", ...echo, env: new Map() },
        timeout: { milliseconds: 30_000, setting: "fairlead.connectTimeout" },
        redact: expect.any(Function),
        milliseconds,
      },
      { step: "program", file: process.execPath, cwd: server.world.root, droppedPath: [], milliseconds },
      {
        step: "environment",
        passed: ["HOME", "LC_ALL", "PATH"],
        set: [],
        withheld: ["GEMINI_CLI_SYSTEM_SETTINGS_PATH", "MY_SECRET"],
        milliseconds,
      },
      { step: "start", milliseconds },
      {
        step: "handshake",
        era: "legacy",
        protocolVersion: "2025-11-25",
        transport: "stdio",
        serverInfo,
        milliseconds,
      },
    ]);
  });

  test("is connected whatever else it says, and all of that is in its log", async () => {
    await using server = await connection(programServer("noisy"));
    const { serverInfo } = await server.open();
    expect(serverInfo.name).toBe("test");
    expect(await server.log()).toContain(" note a line on stdout is not a message: ");
  });

  test("is not offered a capability that the host would not answer", async () => {
    const spy = script('process.stdin.once("data", (line) => process.stderr.write(line))');
    const caller = new AbortController();
    const heard: string[] = [];
    await using server = await connection(spy);
    const onStderrLine = (line: string): void => {
      heard.push(line);
      caller.abort();
    };
    await server.failure({ signal: caller.signal, onStderrLine });
    expect(heard[0]).toContain('clientCapabilities":{}');
  });
});

describe("a program that is none", () => {
  test("a command that is nowhere: the message names it, and not every folder of the PATH", async () => {
    await using server = await connection({ command: "no-such-command" }, { env: { PATH: "/usr/bin:/nowhere" } });
    expect(await server.failure()).toMatchObject({
      code: "command_not_found",
      serverName: "s",
      message: '"s" did not start: cannot start "no-such-command": the command is not in the server\'s PATH',
      next: expect.stringMatching(/^Install the command, or correct it \(.*settings\.json:3\)\.$/),
    });
  });

  test.each([
    [{ ...echo, cwd: "/no/such/folder" }, /cwd does not exist: \/no\/such\/folder$/],
    [{ command: "/etc/passwd" }, /\/etc\/passwd is not an executable file$/],
    [{ command: "~/missing" }, /the file does not exist: .*\/home\/missing$/],
  ])("%o", async (entry, message) => {
    await using server = await connection(entry);
    expect(await server.failure()).toMatchObject({
      code: "command_not_found",
      message: expect.stringMatching(message),
      next: entryAt,
    });
  });

  test("one that ends is reported with its exit code and the line that says most of what it wrote", async () => {
    const trace = "TypeError: options.url is missing\\n    at start (x.js:1)\\n\\nNode.js v20";
    await using server = await connection(script(`console.error("${trace}"); process.exit(3)`));
    expect(await server.failure()).toMatchObject({
      code: "server_exited",
      message: '"s" exited with code 3 during initialize; stderr: TypeError: options.url is missing',
      next: "fairlead mcp logs s",
      evidence: "TypeError: options.url is missing\n    at start (x.js:1)\n\nNode.js v20",
    });
  });

  test("a signal is reported by its name; with nothing said, the command is to be checked", async () => {
    await using server = await connection(script('process.kill(process.pid, "SIGKILL")'));
    expect(await server.failure()).toMatchObject({
      code: "server_exited",
      message: '"s" was ended by SIGKILL during initialize',
      next: expect.stringMatching(/^Check the command and its arguments \(.*settings\.json:3\)\.$/),
    });
  });

  test.each([
    ["Error: GITHUB_TOKEN is required", {}, /^Add "env": \{"GITHUB_TOKEN": "\$GITHUB_TOKEN"\} to "s" \(/],
    ["please set an api key", {}, /^If the server needs credentials, add them to "env" of "s"/],
    [
      "401 Unauthorized",
      { env: { GITLAB_TOKEN: "wrong-token", B: "c" } },
      /values in "env" of "s" \(.*\): GITLAB_TOKEN, B\.$/,
    ],
  ])("one that lacks credentials (%s) is told which", async (words, rest, next) => {
    await using server = await connection(
      { ...programServer("exits", "1", words), ...rest },
      { env: { GITHUB_TOKEN: "not for everybody" } },
    );
    expect(await server.failure()).toMatchObject({ code: "server_exited", next: expect.stringMatching(next) });
  });

  test("one that prints something else and ends well is no server", async () => {
    await using server = await connection(script('console.log("usage: x [options]")'));
    expect(await server.failure()).toMatchObject({
      code: "not_mcp",
      message:
        '"s" is not an MCP server: a line on stdout is not a message: "usage: x [options]"; then it exited with code 0',
    });
  });

  test("one that prints without end is no server", async () => {
    await using server = await connection(programServer("garbage"));
    expect(await server.failure()).toMatchObject({
      code: "not_mcp",
      message: expect.stringMatching(
        /^"s" is not an MCP server: it wrote 1,000 lines and no message; response begins "\\u001b\[31mcomp/,
      ),
    });
  });

  test.each([
    [{ error: { code: -32000, message: "go away" } }, '"s" answered initialize with an error: go away (-32000)'],
    [{ result: {} }, `"s" violates the MCP protocol: the server's response to initialize has no protocolVersion`],
    [{ result: 7 }, '"s" violates the MCP protocol: the response to initialize has no result'],
  ])("%o in answer to initialize", async (answer, message) => {
    await using server = await connection(programServer("refuses", JSON.stringify(answer)));
    expect(await server.failure()).toMatchObject({ code: "protocol", message });
  });
});

describe("timeout", () => {
  /** Says so when it was asked something, and nothing else; its last line has no end. */
  const silent = 'process.stdin.once("data", () => process.stderr.write("loading\\nwaiting for the database"))';

  test.each([
    [{}, { connectTimeout: 1500 }, /^raise "fairlead\.connectTimeout" in settings\.json$/],
    [{ timeout: 1500 }, {}, /raise "timeout" of "s" \(.*settings\.json:3\)/],
  ])("%o %o: the message names the step, the setting and what the server wrote", async (rest, options, next) => {
    const clock = manualClock();
    await using server = await connection(script(silent, rest), { ...options, clock });
    const passed: number[] = [];
    const onStderrLine = async (line: string): Promise<void> => {
      if (line !== "loading") return;
      await clock.pass(1499);
      passed.push(clock.pending());
      await clock.pass(1);
    };
    // As it was reached before, so that the first question is the one that counts.
    const era = { era: "legacy", transport: "stdio" } as const;
    expect(await server.failure({ era, onStderrLine: (line) => void onStderrLine(line) })).toMatchObject({
      code: "connect_timeout",
      message: '"s" timed out after 1.5 s: no response to initialize; stderr: waiting for the database',
      next: expect.stringMatching(next),
      evidence: "loading\nwaiting for the database",
    });
    expect(passed).toEqual([1]);
  });

  test("a server that was never reached before is asked which protocol it speaks, and that is named", async () => {
    await using server = await connection(programServer("silent"), { connectTimeout: 300 });
    expect(await server.failure()).toMatchObject({
      code: "connect_timeout",
      message: '"s" timed out after 0.3 s: no response to server/discover',
    });
  });

  test("one that listens elsewhere is no server, and what it says instead of an answer is told", async () => {
    const clock = manualClock();
    const code = `process.stdin.once("data", () =>
      process.stdout.write("Listening on http://localhost:3000\\n", () => process.stderr.write("said\\n")))`;
    await using server = await connection(script(code), { connectTimeout: 1500, clock });
    const era = { era: "legacy", transport: "stdio" } as const;
    expect(await server.failure({ era, onStderrLine: () => void clock.pass(1500) })).toMatchObject({
      code: "not_mcp",
      message: `"s" is not an MCP server: no response to initialize within 1.5 s, and its stdout is not MCP: "Listening on http://localhost:3000"`,
      next: expect.stringMatching(/^Check the command and its arguments \(.*settings\.json:3\)\.$/),
    });
  });

  test("the caller's own is cancelled, not late", async () => {
    await using server = await connection(programServer("silent"));
    const caller = new AbortController();
    const observe = ({ step }: { readonly step: string }): void => {
      if (step === "start") caller.abort();
    };
    expect(await server.failure({ signal: caller.signal, observe })).toMatchObject({
      code: "cancelled",
      message: '"s" was not connected: cancelled',
    });
  });
});

test("nothing of a server is left when the failure is known", async () => {
  const mark = `mark-silent-${process.pid}`;
  const entry = { ...programServer("silent"), env: { MARK: mark } };
  await using server = await connection(entry);
  const caller = new AbortController();
  const started: string[] = [];
  const observe = ({ step }: { readonly step: string }): void => {
    if (step !== "start") return;
    started.push(...processesWith(mark));
    caller.abort();
  };
  await server.failure({ signal: caller.signal, observe });
  expect(started).toHaveLength(1);
  expect(processesWith(mark)).toEqual([]);
});
