import { seed } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { openServer, program, says, script, stays } from "../support/stdio-server.ts";

describe("a conversation", () => {
  test("messages go out and come back in order", async () => {
    await using server = await openServer(program("echo.mjs"));
    for (let id = 0; id < 200; id += 1) void server.channel.send({ id, text: `ü€😀 ${id}` });
    const messages = await server.arrived(200);
    expect(messages).toEqual(Array.from({ length: 200 }, (_, id) => ({ echo: { id, text: `ü€😀 ${id}` } })));
  });

  test("what is sent in one tick leaves in one write", async () => {
    // Answers every chunk it reads with the number of lines in it.
    const server = script(
      `process.stdin.on("data", (chunk) => console.log(JSON.stringify({ lines: String(chunk).split("\\n").length - 1 })));` +
        says('{"ready":true}\n'),
    );
    await using open = await openServer(server);
    await open.arrived(1);
    await Promise.all(Array.from({ length: 50 }, (_, id) => open.channel.send({ id })));
    await open.arrived(2);
    await open.channel.send({ id: 51 });
    expect(await open.arrived(3)).toEqual([{ ready: true }, { lines: 50 }, { lines: 1 }]);
  });

  test("the environment is exactly what was given, and the tag", async () => {
    const target = {
      ...script(`console.log(JSON.stringify(process.env)); ${stays}`),
      env: { ONLY: "this", EMPTY: "" },
    };
    await using server = await openServer(target);
    const [environment] = await server.arrived(1);
    expect(environment?.["FAIRLEAD_CHILD"]).toMatch(/^[a-z0-9]+\.1$/);
    expect({ ...environment, FAIRLEAD_CHILD: "" }).toEqual({ ONLY: "this", EMPTY: "", FAIRLEAD_CHILD: "" });
  });

  test("arguments arrive as they were given, whatever a shell would make of them", async () => {
    const odd = ["; rm -rf /", "$(date)", "`date`", "a & b | c", "%PATH%", "'\"", "ü 😀", "", "*", "\\"];
    const code = `console.log(JSON.stringify({ args: process.argv.slice(1) })); ${stays}`;
    await using server = await openServer({ ...script(code), args: ["-e", code, "--", ...odd] });
    expect(await server.arrived(1)).toEqual([{ args: odd }]);
  });

  test("a large message goes there and back", async () => {
    await using server = await openServer(program("echo.mjs"));
    const text = "x".repeat(10 * 1024 * 1024);
    await server.channel.send({ text });
    expect(await server.arrived(1)).toEqual([{ echo: { text } }]);
  });

  test("a line of almost 64 MB is a message", async () => {
    const size = 63 * 1024 * 1024;
    const code = `process.stdout.write('{"text":"' + "x".repeat(${size}) + '"}\\n'); ${stays}`;
    await using server = await openServer(script(code));
    const [message] = await server.arrived(1);
    expect(String(message?.["text"]).length).toBe(size);
  });
});

describe("what servers write to stdout", () => {
  test("carriage returns, a byte order mark, empty lines and white space are tolerated in silence", async () => {
    await using server = await openServer(script(says('\uFEFF{"a":1}\r\n\r\n\n   \n  {"b":2}  \r\n') + stays));
    expect(await server.arrived(2)).toEqual([{ a: 1 }, { b: 2 }]);
    expect(server.diagnostics).toEqual([]);
  });

  test("noise is skipped, the first of it reported with its control characters made visible", async () => {
    const noise = ["Listening on stdio", "\u001b[31mred\u001b[0m", '"text"', "42", "null", "[]", "{half", "[1]"];
    await using server = await openServer(script(says(`${noise.join("\n")}\n{"a":1}\n`) + stays));
    expect(await server.arrived(1)).toEqual([{ a: 1 }]);
    expect(server.diagnostics).toEqual([
      'a line on stdout is not a message: "Listening on stdio"',
      'a line on stdout is not a message: "\\u001b[31mred\\u001b[0m"',
      'a line on stdout is not a message: "\\"text\\""; further lines are not reported',
    ]);
  });

  test("a batch arrives as its members; what is no message in it is noise", async () => {
    await using server = await openServer(script(says('[{"a":1},7,{"b":2},[{"c":3}]]\n{"d":4}\n') + stays));
    expect(await server.arrived(3)).toEqual([{ a: 1 }, { b: 2 }, { d: 4 }]);
    expect(server.diagnostics).toHaveLength(2);
  });

  test("a program that only chatters is closed as no server, with its first words", async () => {
    await using server = await openServer(script(`for (;;) process.stdout.write("y\\n".repeat(100));`));
    const cause = await server.closed;
    expect(cause).toMatchObject({ code: "bad_message", evidence: { firstBytes: "y" } });
    expect(cause?.message).toContain("not an MCP server");
    expect(server.messages).toEqual([]);
  });

  test("a server that has spoken once may chatter on", async () => {
    await using server = await openServer(script(says(`{"a":1}\n${"y\n".repeat(5000)}{"b":2}\n`) + stays));
    expect(await server.arrived(2)).toEqual([{ a: 1 }, { b: 2 }]);
  });

  test("a thousand messages written in pieces of random size arrive whole and in order", async () => {
    const start = seed();
    const code = `
      let state = ${start};
      const random = (below) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % below;
      const bytes = Buffer.from(Array.from({ length: 1000 }, (_, id) =>
        JSON.stringify({ id, text: "ü€😀".repeat(random(50)) }) + (id % 3 ? "\\n" : "\\r\\n")).join(""));
      const next = (at) => at < bytes.length && setImmediate(() => {
        const end = at + 1 + random(random(3) ? 20000 : 30);
        process.stdout.write(bytes.subarray(at, end));
        next(end);
      });
      next(0); ${stays}`;
    await using server = await openServer(script(code));
    const messages = await server.arrived(1000);
    expect(
      messages.map(({ id }) => id),
      `FAIRLEAD_SEED=${start}`,
    ).toEqual(Array.from({ length: 1000 }, (_, id) => id));
    expect(messages.every(({ text }) => /^(ü€😀)*$/.test(String(text)))).toBe(true);
    expect(server.diagnostics).toEqual([]);
  });

  test("random bytes cause no error", async () => {
    const start = seed();
    const code = `
      let state = ${start};
      const bytes = Buffer.alloc(1 << 20);
      for (let i = 0; i < bytes.length; i += 1) bytes[i] = (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 24;
      process.stdout.write('{"a":1}\\n');
      process.stdout.write(bytes);
      process.stdout.write('\\n{"b":2}\\n'); ${stays}`;
    await using server = await openServer(script(code));
    expect(await server.arrived(2), `FAIRLEAD_SEED=${start}`).toEqual([{ a: 1 }, { b: 2 }]);
  });

  test("a line over the limit closes the channel at once, with the limit in the error", async () => {
    const code = `process.stdout.write('{"a":1}\\n' + "x".repeat(5000)); ${stays}`;
    await using server = await openServer(script(code), { limits: { messageBytes: 4096 } });
    const cause = await server.closed;
    expect(cause).toMatchObject({ code: "too_large" });
    expect(cause?.message).toContain("4096");
    expect(server.messages).toEqual([{ a: 1 }]);
  });

  test("nesting without end does not end the process", async () => {
    const depth = 200_000;
    const code = `process.stdout.write("[".repeat(${depth}) + "]".repeat(${depth}) + "\\n" +
      '{"deep":' + '{"a":'.repeat(${depth}) + "1" + "}".repeat(${depth + 1}) + '\\n{"a":1}\\n'); ${stays}`;
    await using server = await openServer(script(code));
    const messages = await server.arrived(2);
    expect(messages.at(-1)).toEqual({ a: 1 });
  });

  test("a message cut short by the exit is not delivered, at whatever byte it is cut", async () => {
    const whole = '{"jsonrpc":"2.0","id":1,"result":{"text":"ü"}}';
    const bytes = Buffer.from(whole);
    for (const cut of [0, 1, bytes.length - 4, bytes.length - 1, bytes.length]) {
      const code = `process.stdout.write(Buffer.from(${JSON.stringify(bytes.toString("hex"))}, "hex").subarray(0, ${cut}))`;
      await using server = await openServer(script(code));
      expect(await server.closed).toMatchObject({ code: "exited", evidence: { exitCode: 0 } });
      expect(server.messages).toEqual(cut === bytes.length ? [JSON.parse(whole)] : []);
    }
  });
});

describe("stderr", () => {
  test("2 MB before the first message block nothing; the end of it is kept and all of it is heard", async () => {
    let heard = 0;
    const code = `require("fs").writeSync(2, "start"); const line = "ü".repeat(499) + "\\n";
      for (let i = 0; i < 2100; i += 1) { try { require("fs").writeSync(2, line); } catch { i -= 1; } }
      process.stdout.write('{"a":1}\\n', () => process.exit(7));`;
    await using server = await openServer(script(code), {
      limits: { stderrBytes: 2000 },
      onStderr: (text) => {
        expect(text).not.toContain("\uFFFD");
        heard += text.length;
      },
    });
    await server.arrived(1);
    const cause = await server.closed;
    expect(heard).toBe(5 + 2100 * 500);
    expect(Buffer.byteLength(cause?.evidence.stderr ?? "")).toBeLessThanOrEqual(2000);
    expect(cause?.evidence.stderr).toMatch(/^[ü\n]+$/);
  });

  test("a flood of bytes without a newline keeps memory flat", async () => {
    const code = `const noise = Buffer.alloc(1 << 20, 0xff); let left = 200;
      const write = () => left-- > 0 ? process.stderr.write(noise, write) : process.exit(0); write();`;
    const before = process.memoryUsage();
    await using server = await openServer(script(code), { limits: { stderrBytes: 64 * 1024 } });
    await server.closed;
    const after = process.memoryUsage();
    expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(120 * 1024 * 1024);
  });
});
