import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { answered, calls, geminiError, inTurn, quotaExceeded, says, stdioServer, until } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { processesOf } from "../support/left-over.ts";
import { type Ending, machine, userFile } from "../support/machine.ts";
import { linesOf, type Scene, scene } from "../support/model-scene.ts";
import { program, runProcess } from "../support/process.ts";

describe("exit codes", () => {
  test("0 although a call was denied, 6 with --fail-on-denied", async () => {
    await using here = await scene();
    expect((await here.ask("call demo__greet")).code).toBe(0);
    const { code, stdout, stderr } = await here.ask("call demo__greet", "--fail-on-denied", "--json");
    expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({
      code: 6,
      ok: false,
      reason: "stop",
      denied: 1,
      error: { code: "denied", message: "a call was denied" },
    });
    expect(stderr).toMatch(
      /fairlead: a call was denied\n {2}next: add --allow SERVER\.TOOL, or remove --fail-on-denied$/m,
    );
  });

  test.each([
    ["length", "the answer is incomplete: it reached the model's output limit\n"],
    ["safety", "the model's API stopped the answer for safety reasons\n"],
  ] as const)("1 when the model stops because of %s", async (finish, message) => {
    await using here = await scene({ api: { answer: () => ({ ...says("Once upon"), finish }) } });
    const { code, stdout, stderr } = await here.ask("Tell me a story");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "Once upon\n" });
    expect(stderr).toContain(`fairlead: ${message}`);
  });

  test("1 when the model does not come to an end within --max-turns", async () => {
    await using here = await scene({ api: { answer: () => calls("demo__greet", { name: "Ada" }) } });
    const options = ["--allow", "demo.greet", "--max-turns", "3", "--json"];
    const { code, stdout } = await here.ask("Greet for ever", ...options);
    expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({ code: 1, ok: false, reason: "limit" });
    expect(here.api.seen).toHaveLength(3);
  });

  test("1 when the model's API refuses, with what it says, in every format", async () => {
    await using here = await scene();
    const refuse = (): void =>
      here.api.interrupt("generate", answered(geminiError(403, "PERMISSION_DENIED", "This key is for others.")));
    refuse();
    const plain = await here.ask("Hello");
    expect(plain).toMatchObject({ code: 1, stdout: "" });
    expect(plain.stderr).toContain("This key is for others.");
    refuse();
    const whole = await here.ask("Hello", "--output-format", "json");
    const error = { code: "model", message: expect.stringContaining("This key is for others.") as string };
    expect(JSON.parse(whole.stdout)).toMatchObject({ schemaVersion: 1, ok: false, text: "", error });
    refuse();
    expect(linesOf(await here.ask("Hello", "--output-format", "stream-json")).at(-1)).toMatchObject({
      type: "error",
      error,
    });
  });

  test.each([
    [["--wait", "soon"], '--wait must be a time such as 500ms, 10s or 2m, not "soon"'],
    [["--max-turns", "0"], "--max-turns must be a whole number above zero"],
    [["--max-turns", "1.5"], "--max-turns must be a whole number above zero"],
    [["--output-format", "xml"], "Allowed choices are text, json, stream-json"],
    [["--approval-mode", "all"], "Allowed choices are default, plan, yolo"],
    [["--servers", "a,,b"], '--servers must be names separated by commas, not "a,,b"'],
    [["--servers", "dmo"], 'there is no server "dmo"; did you mean "demo"?'],
    [["--allow", "dmo.greet"], 'there is no server "dmo"; did you mean "demo"?'],
    [["--allow", "dmo"], '"dmo" is not of the form server.tool'],
    [["--allow", "dmo*.greet"], "--allow dmo*.greet: the server's name must be exact"],
  ])("2 for %j", async (words, message) => {
    await using here = await scene();
    const { code, stdout, stderr } = await here.ask("Hello", ...words);
    expect({ code, stdout, asked: here.api.seen.length }).toEqual({ code: 2, stdout: "", asked: 0 });
    expect(stderr).toContain(message);
  });
});

test("two formats at once are a mistake", async () => {
  await using here = await scene();
  const { code, stderr } = await here.ask("Hello", "--json", "--output-format", "stream-json");
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: "fairlead: --json and --output-format stream-json cannot be combined\n",
  });
});

describe("without a model", () => {
  test("what to set is said, and nothing is started", async () => {
    await using here = await machine({ [userFile]: { mcpServers: { a: { command: "touch", args: ["started"] } } } });
    const { code, stdout, stderr } = await here.run("-p", "Hello");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^fairlead: no model configured/);
    expect(await readdir(here.project)).toEqual([".gemini"]);
  });

  test("it is said in the format that was asked for", async () => {
    await using here = await machine();
    const error = {
      code: "model",
      message: expect.stringMatching(/^no model configured/) as string,
      next: expect.any(String) as string,
    };
    const whole = await here.run("-p", "Hello", "--output-format", "json");
    expect(JSON.parse(whole.stdout)).toMatchObject({ schemaVersion: 1, ok: false, error });
    expect(linesOf(await here.run("-p", "Hello", "--output-format", "stream-json"))).toEqual([
      { schemaVersion: 1, type: "error", error },
    ]);
  });

  test("a key in the person's own .env file counts, one in the workspace's does not", async () => {
    await using here = await scene();
    const env = { GEMINI_API_KEY: "", GOOGLE_GEMINI_BASE_URL: "" };
    const key = `GEMINI_API_KEY=test-key\nGOOGLE_GEMINI_BASE_URL=${here.api.baseUrl}\n`;
    await here.write("project/.env", key);
    expect((await here.runWith({ env: {} }, "-p", "Hello", "--trust-workspace")).code).toBe(1);
    await here.write("home/.gemini/.env", key);
    expect((await here.runWith({ env: {} }, "-p", "Hello")).code).toBe(0);
    // What the environment says comes first, also if it says nothing.
    expect((await here.askWith({ env }, "Hello")).code).toBe(1);
  });
});

test("waiting for a model that is busy is said", async () => {
  await using here = await scene();
  here.api.interrupt("generate", answered(quotaExceeded({ delay: "0.01s" })));
  const { code, stderr } = await here.ask("Hello");
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("trying again in") as string });
});

test("the process ends with the turn, also where answers were left in their middle", async () => {
  const refuses = ({ name }: { readonly name?: string }): string | undefined => (name === "ask" ? "odd" : undefined);
  await using here = await scene({ counted: ["one"], api: { explains: "nothing", refuses } });
  const { code, stdout, stderr } = await runProcess(here, "-p", 'call echo {"text":"hi"}', "--allow", "one.echo");
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("hi") as string });
  expect(stderr).toMatch(/^quarantined: one\.ask: Request contains an invalid argument\.$/m);
});

describe("Ctrl-C", () => {
  interface Cancelled extends Ending {
    /** What the server was told. */
    readonly diary: string;
  }

  /** Ends the run while the server's tool runs. */
  async function cancelled(
    format: string,
    run: (here: Scene, words: readonly string[]) => { readonly end: () => void; readonly ending: Promise<Ending> },
  ): Promise<Cancelled> {
    await using here = await scene({ api: { answer: inTurn(calls("echo", { text: "a" })) } });
    const file = await here.write("diary", "");
    const diary = (): string => readFileSync(file, "utf8");
    await here.write(userFile, { mcpServers: { endless: stdioServer("never-ends", file) } });
    const { end, ending } = run(here, ["-p", "Say it", "--allow", "endless.echo", "--output-format", format]);
    await until(() => diary() === "tools/call\n");
    end();
    const { stdout, stderr, code } = await ending;
    expect(processesOf(here)).toEqual([]);
    return { stdout, stderr, code, diary: diary() };
  }

  const told = {
    code: 130,
    stderr: expect.stringMatching(/fairlead: cancelled\n$/) as string,
    diary: "tools/call\nnotifications/cancelled\n",
  };

  test.each<[string, (stdout: string) => unknown, unknown]>([
    ["text", String, ""],
    ["json", (stdout) => JSON.parse(stdout) as unknown, { ok: false, error: { code: "cancelled" } }],
  ])("ends the turn, and says so as %s", async (format, read, expected) => {
    const { stdout, ...rest } = await cancelled(format, (here, words) => {
      const leave = new AbortController();
      return { end: () => leave.abort(), ending: here.runWith({ env: here.env, signal: leave.signal }, ...words) };
    });
    expect(rest).toEqual(told);
    expect({ said: read(stdout) }).toMatchObject({ said: expected });
  });

  test("ends the process, and says so as stream-json", async () => {
    const { stdout, ...rest } = await cancelled("stream-json", ({ project, env }, words) => {
      const child = spawn(process.execPath, [program, ...words], {
        cwd: project,
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
      const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
      const ending = ended.then(([stdout, stderr, [code]]) => ({ stdout, stderr, code: Number(code) }));
      return { end: () => void child.kill("SIGINT"), ending };
    });
    expect(rest).toEqual(told);
    expect(linesOf({ ...rest, stdout }).at(-1)).toMatchObject({ type: "done", reason: "cancelled" });
  });
});

test("a reader that goes away has seen enough", async () => {
  await using here = await scene({ api: { answer: () => says("line\n".repeat(200_000)) } });
  const line = `'${process.execPath}' '${program}' -p "Say a lot" < /dev/null | head -n 1`;
  const child = spawn("bash", ["-c", line], { cwd: here.project, env: here.env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect({ stdout, stderr: stderr.replace("waiting for demo\n", "") }).toEqual({ stdout: "line\n", stderr: "" });
  await until(() => processesOf(here).length === 0);
});
