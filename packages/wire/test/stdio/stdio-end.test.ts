import { randomBytes } from "node:crypto";
import { isRunning, processesWith, scaled, temporaryFolder, until } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { failure, openServer, program, says, script, stays } from "../support/stdio-server.ts";

const rounds = scaled(30);

describe("the end of a server", () => {
  test.each([0, 1, 127])("exit code %d is told, with the last words", async (code) => {
    await using server = await openServer(script(`process.stderr.write("no API key\\n", () => process.exit(${code}))`));
    const cause = await server.closed;
    expect(cause).toMatchObject({ code: "exited", evidence: { exitCode: code, stderr: "no API key\n" } });
    expect(cause?.message).toContain(`code ${code}`);
  });

  test.each(["SIGKILL", "SIGSEGV"])("a death by %s is told", async (signal) => {
    await using server = await openServer(script(`process.kill(process.pid, "${signal}"); ${stays}`));
    expect(await server.closed).toMatchObject({ code: "exited", evidence: { signal } });
  });

  test("what was written just before the exit arrives before the end is told", async () => {
    const code = `require("fs").writeSync(1, '{"last":"word"}\\n'); process.exit(0)`;
    for (let round = 0; round < rounds; round += 1) {
      await using server = await openServer(script(code));
      await server.closed;
      expect(server.messages).toEqual([{ last: "word" }]);
    }
  });

  test("a message sent between the end of stdout and the news of the exit fails with the exit", async () => {
    // No newline: the message is only complete when stdout ends.
    const code = `require("fs").writeSync(1, '{"last":"word"}'); process.exit(3)`;
    for (let round = 0; round < rounds; round += 1) {
      await using server = await openServer(script(code));
      await server.arrived(1);
      expect(await failure(server.channel.send({ too: "late" }))).toMatchObject({
        code: "exited",
        evidence: { exitCode: 3, unsent: true },
      });
    }
  });

  test("a relative that keeps stdout open does not delay the news", async () => {
    const code = `require("child_process").spawn("sleep", ["600"], { stdio: "inherit" });
      process.stdout.write('{"last":"word"}\\n', () => process.exit(5));`;
    const mark = randomBytes(8).toString("hex");
    const server = await openServer(script(code), { target: { env: { PATH: process.env["PATH"] ?? "", MARK: mark } } });
    expect(await server.closed).toMatchObject({ code: "exited", evidence: { exitCode: 5 } });
    expect(server.messages).toEqual([{ last: "word" }]);
    await server.channel.close();
    expect(processesWith(mark)).toEqual([]);
  });

  test("a message for a server that is dead already, though not yet said to be, is not taken for sent", async () => {
    const code = `require("child_process").spawn("sleep", ["600"], { stdio: ["ignore", "inherit", "inherit"] });
      process.stdout.write(JSON.stringify({ pid: process.pid }) + "\\n", () => process.exit(5));`;
    await using server = await openServer(script(code));
    const [hello] = await server.arrived(1);
    await until(() => !isRunning(Number(hello?.["pid"])));
    expect(await failure(server.channel.send({ id: 1 }))).toMatchObject({ code: "exited", evidence: { exitCode: 5 } });
  });

  test("a server that closes stdout but stays is closed, and ended", async () => {
    await using server = await openServer(
      script(`${says('{"a":1}\n')} process.stdout.end(); setInterval(() => {}, 1e6)`),
      {
        times: { endGrace: 50 },
      },
    );
    const cause = await server.closed;
    expect(cause).toMatchObject({ code: "closed" });
    expect(cause?.message).toContain("stdout");
    expect(server.messages).toEqual([{ a: 1 }]);
  });

  test("a server that closes stdin but stays is closed when something is sent", async () => {
    const code = `require("fs").closeSync(0); ${says('{"ready":1}\n')} setInterval(() => {}, 1e6)`;
    await using server = await openServer(script(code), { times: { endGrace: 50 } });
    await server.arrived(1);
    const error = await failure(server.channel.send({ id: 1 }));
    expect(error.code).toBe("closed");
    expect(await server.closed).toMatchObject({ code: "closed" });
  });

  test("its end is told exactly once, and messages that had not left are known not to have", async () => {
    await using server = await openServer(script("process.exit(1)"));
    const cause = await server.closed;
    const error = await failure(server.channel.send({ id: 1 }));
    expect(error).toMatchObject({ code: "exited", evidence: { exitCode: 1, unsent: true } });
    await server.channel.close();
    expect(server.closings).toEqual([cause]);
  });

  test("closing from here has no cause, and closing again waits for the same end", async () => {
    const server = await openServer(program("echo.mjs"));
    const first = server.channel.close();
    expect(server.channel.close()).toBe(first);
    await first;
    expect(server.closings).toEqual([undefined]);
    expect(await failure(server.channel.send({ id: 1 }))).toMatchObject({ code: "closed", evidence: { unsent: true } });
  });

  test("what was sent before the close still reaches the server", async () => {
    await using folder = await temporaryFolder();
    const file = `${folder.path}/read`;
    const code = `process.stdin.pipe(require("fs").createWriteStream(${JSON.stringify(file)}))`;
    // It ends by itself, however long it takes to start.
    const server = await openServer(script(code), { times: { endGrace: 600_000 } });
    const sent = server.channel.send({ last: "wish" });
    await server.channel.close();
    await sent;
    expect(await folder.read("read")).toBe('{"last":"wish"}\n');
  });

  test("nothing arrives after the close", async () => {
    const server = await openServer(
      script(`process.stdin.on("end", () => console.log("{}")).resume(); console.log("{}")`),
    );
    await server.arrived(1);
    await server.channel.close();
    expect(server.messages).toEqual([{}]);
  });
});
