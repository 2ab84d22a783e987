import { stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { createRedactor, hideInArguments } from "../../src/connect/redact.ts";
import { connection, script } from "./connection.ts";

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
  const shown = ["--token", "(hidden)", "--api-key=(hidden)", "TOKEN=(hidden)", "--verbose", "--auth", "--port", "80"];
  expect(hideInArguments(args)).toEqual([...shown, "Authorization: (hidden)"]);
});

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

  test("plain words that its entry sets can still be read", async () => {
    await using server = await connection({
      ...stdioServer("exits", "1", "mode production in /srv/data, level 3"),
      env: { MODE: "production", DATA: "/srv/data", LEVEL: "3" },
    });
    expect(await server.failure()).toMatchObject({ evidence: "mode production in /srv/data, level 3" });
  });
});
