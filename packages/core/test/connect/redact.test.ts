import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createRedactor, hideInArguments, hideInMessage, type Redact } from "../../src/connect/redact.ts";
import { type Connection, connection, script } from "./connection.ts";

describe("what looks like a secret is hidden", () => {
  test.each([
    ["Authorization: Bearer abc.def", "Authorization: (hidden)"],
    ['{"authorization":"Basic dXNlcjpwYXNz","x":1}', '{"authorization":"(hidden)","x":1}'],
    ["X-Api-Key=12345", "X-Api-Key=(hidden)"],
    ["set-cookie: id=1; path=/", "set-cookie: (hidden)"],
    ["sent bearer abcdefghij now", "sent bearer (hidden) now"],
    ["postgres://me:pa55@db/x", "postgres://me:(hidden)@db/x"],
    ["https://x.example/a?access_token=abc&b=1#c", "https://x.example/a?access_token=(hidden)&b=1#c"],
    ["ghp_abcdefghijklmnop1234", "(hidden)"],
    ["key AKIAABCDEFGHIJKLMNOP.", "key (hidden)."],
    ["eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "(hidden)"],
  ])("%s", (text, shown) => {
    expect(createRedactor([])(text)).toBe(shown);
  });
});

test.each([
  "the token bucket is empty",
  "listening on http://localhost:3000/mcp",
  "user@example.org: hello",
  "basic usage: x",
  "authorize() was called",
  "2026-11-15T10:00:00Z info 12 tools",
])("what does not, stays: %s", (text) => {
  expect(createRedactor([])(text)).toBe(text);
});

test("known values are hidden as they are, inside JSON and in addresses, the longest first", () => {
  const redact = createRedactor(["s3cret", 's3cret"and more/+', "abc", ""]);
  expect(redact('s3cret s3cret\\"and more/+ s3cret%22and%20more%2F%2B abc')).toBe("(hidden) (hidden) (hidden) abc");
});

test("known values are hidden in base64, of both alphabets, with padding and without", () => {
  const secret = "s3cret??>>~";
  const encoded = [Buffer.from(secret).toString("base64"), Buffer.from(secret).toString("base64url")];
  expect(encoded[0]).toMatch(/[+/].*=$/);
  expect(createRedactor([secret])(encoded.join(" "))).toBe("(hidden)= (hidden)");
});

test("known values are hidden in hexadecimal, in both cases", () => {
  const hex = Buffer.from("s3cret-key").toString("hex");
  expect(createRedactor(["s3cret-key"])(`${hex} ${hex.toUpperCase()}`)).toBe("(hidden) (hidden)");
});

test("a long line of beginnings of tokens takes no longer than any other line", () => {
  const text = "eyJ-".repeat(100_000);
  expect(createRedactor(["abcd"])(text)).toBe(text);
});

describe("in messages, what stands under telling names is hidden", () => {
  test.each([
    ["sent", { password: "a", n: 1 }, { password: "(hidden)", n: 1 }],
    [
      "sent",
      { dbPass: 1, apiKey: ["b"], secret: { c: "d" } },
      { dbPass: "(hidden)", apiKey: "(hidden)", secret: "(hidden)" },
    ],
    ["sent", { author: "me", passive: "x", progressToken: 3, maxTokens: 9, auth: true }, undefined],
    ["received", { properties: { token: { type: "string" } } }, undefined],
    ["received", { deep: [{ token: "abc" }] }, { deep: [{ token: "(hidden)" }] }],
  ] as const)("%s %o", (direction, message, shown) => {
    expect(JSON.parse(hideInMessage(direction, message))).toEqual(shown ?? message);
  });
});

test("a message that is nested very deeply is shown as far as it can be", () => {
  const deep: unknown = JSON.parse("[".repeat(20_000) + "]".repeat(20_000));
  expect(hideInMessage("received", { token: "abc", deep })).toMatch(/^\{"token":"\(hidden\)","deep":\[{99}"\(nested/);
});

test("values that mean something in patterns, or nothing as text, are values all the same", () => {
  const redact = createRedactor(["a.*b$(c)[d]", "half\ud800"]);
  expect(redact("a.*b$(c)[d] aXXb half\ud800")).toBe("(hidden) aXXb (hidden)");
});

test("a command line shows options, not what follows those with telling names", () => {
  const args = [
    "--token",
    "abc",
    "--api-key=def",
    "TOKEN=x",
    "--verbose",
    "--auth",
    "--port",
    "80",
    "Authorization: me",
  ];
  expect(hideInArguments(["--pass", "a", "--bypass", "b", "PWD=/c", "OLDPWD=/d"])).toEqual([
    "--pass",
    "(hidden)",
    "--bypass",
    "b",
    "PWD=/c",
    "OLDPWD=/d",
  ]);
  const shown = ["--token", "(hidden)", "--api-key=(hidden)", "TOKEN=(hidden)", "--verbose", "--auth", "--port", "80"];
  expect(hideInArguments(args)).toEqual([...shown, "Authorization: (hidden)"]);
});

test.each([
  ['{"apiKey":"abc","port":80}', '{"apiKey":"(hidden)","port":80}'],
  ['--config={"db": {"password": "a\\"b", "pin": 1}}', '--config={"db": {"password": "(hidden)", "pin": 1}}'],
  ['"{\\"token\\": \\"abc\\"}"', '"{\\"token\\": \\"(hidden)\\"}"'],
  ["{token: 'abc', name: 'x'}", "{token: '(hidden)', name: 'x'}"],
  ["env API_TOKEN=abc server --api-key=def; run", "env API_TOKEN=(hidden) server --api-key=(hidden); run"],
  ['{"author":"me","maxTokens":100}', '{"author":"me","maxTokens":100}'],
])("secrets inside of one argument are hidden: %s", (argument, shown) => {
  expect(hideInArguments(["-c", argument])).toEqual(["-c", shown]);
});

/** What a connection puts its server's words through; nothing is started. */
async function redactor(server: Connection): Promise<Redact> {
  await server.failure({ signal: AbortSignal.abort() });
  const [first] = server.steps;
  if (first?.step !== "definition") throw new Error("no definition");
  return first.redact;
}

describe("of a real server, no secret gets into the log, a message or the evidence", () => {
  const secrets = {
    stored: "stored-secret-value",
    literal: "literal-env-value-1",
    variable: "from-our-environment",
    option: "given-as-an-option",
  };

  test("whatever it repeats on stderr, in pieces too", async () => {
    const code = `
      const say = (text) => process.stderr.write(text);
      say("Error: " + process.env.STORED.slice(0, 6));
      setTimeout(() => { say(process.env.STORED.slice(6) + " " + JSON.stringify([process.env, process.argv])); process.exit(1) }, 50);`;
    await using server = await connection(
      script(code, {
        args: ["-e", code, "--", "--password", secrets.option, "$MY_TOKEN"],
        env: { STORED: "${secret:STORED}", LITERAL: secrets.literal },
      }),
      { secrets: { STORED: secrets.stored }, env: { MY_TOKEN: secrets.variable }, debugged: true },
    );
    const { message, evidence = "" } = await server.failure();
    const everything = [message, evidence, await server.log()].join("\n");
    expect(everything).toContain("Error: (hidden)");
    for (const secret of Object.values(secrets)) expect(everything).not.toContain(secret);
  });

  test.each([
    ["me:p%40ss-word@proxy:99", "proxy me:p%40ss-word@proxy:99 p@ss-word", "proxy (hidden)@proxy:99 (hidden)"],
    ["http://me:pass/word@proxy:99", "pass/word proxy:99", "(hidden) proxy:99"],
    ["t0k3n@proxy", "t0k3n", "(hidden)"],
    ["proxy:99", "proxy:99", "proxy:99"],
  ])("the account at a proxy of ours, which every program is told: %s", async (HTTP_PROXY, said, shown) => {
    await using server = await connection({ command: "no-matter-what" }, { env: { HTTP_PROXY } });
    expect((await redactor(server))(said)).toBe(shown);
  });

  describe("what its entry sets and what was filled in", () => {
    const ours = { PLAIN: "hunter", HOME_OF_IT: "/srv/home", USER: "alice", LANG: "en_US.UTF-8", NUMBER: "4711" };

    test.each<[string, object, string, string]>([
      [
        "a variable of ours, whatever its name",
        { args: ["x$PLAIN"] },
        "xhunter hunter 4711",
        "x(hidden) (hidden) 4711",
      ],
      ["a number of ours", { args: ["$NUMBER"] }, "4711", "(hidden)"],
      ["public variables of the user", { args: ["$USER$LANG$HOME_OF_IT$PWD"] }, "alice en_US.UTF-8 /srv/home", ""],
      ["a known name passed on", { env: { USER: "$USER" } }, "alice", ""],
      ["a word", { env: { MODE: "production" } }, "production", "(hidden)"],
      ["four characters", { env: { MODE: "abcd" } }, "abcd", "(hidden)"],
      ["a number as a password", { env: { DB_PASS: "123456" } }, "123456", "(hidden)"],
      ["a long number", { env: { ACCOUNT: "1234567" } }, "1234567", "(hidden)"],
      ["an address", { env: { HOOK: "https://x.example/T0/B1" } }, "to https://x.example/T0/B1", "to (hidden)"],
      ["flags and levels", { env: { A: "true", B: "debug", C: "123456" } }, "true debug 123456", ""],
      ["paths and locales", { env: { A: "/srv/d", B: "./data", C: "de_DE.UTF-8" } }, "/srv/d ./data de_DE.UTF-8", ""],
      ["PWD", { env: { PWD: "/srv/folder", OLDPWD: "/srv/before" } }, "/srv/folder /srv/before", ""],
      [
        "a password in an address",
        { args: ["postgres://me:p%40ss+1@db/x"] },
        "p%40ss+1 p@ss+1 db",
        "(hidden) (hidden) db",
      ],
      ["an account without password", { args: ["--url=https://t0k3n@h/x"] }, "t0k3n", "(hidden)"],
      ["parameters", { args: ["https://h/?a=val%2Fue+1&n=8080"] }, "val/ue 1 8080", "(hidden) 8080"],
    ])("%s", async (_what, rest, said, shown) => {
      await using server = await connection({ command: "no-matter-what", ...rest }, { env: ours });
      expect((await redactor(server))(said)).toBe(shown === "" ? said : shown);
    });
  });

  test("with --debug, arguments under telling names are not in the log", async () => {
    await using server = await connection(stdioServer("well-behaved"), { debugged: true });
    const session = await server.open();
    const sent = { name: "none", arguments: { password: "only-the-caller-knows", city: "Rome" } };
    await session.request("tools/call", sent).catch(() => undefined);
    const log = await server.log();
    expect(log).toContain('"arguments":{"password":"(hidden)","city":"Rome"}');
    expect(log).not.toContain("only-the-caller-knows");
  });
});
