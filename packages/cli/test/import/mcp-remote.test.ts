import { describe, expect, test } from "vitest";
import { type Case, convert, expectConversion } from "../support/conversions.ts";

const url = "https://example.com/mcp";
const remarks = ["converted command", "hint url"];

const cases: readonly Case[] = [
  {
    title: "the plain form",
    program: "claude-desktop",
    value: { command: "npx", args: ["-y", "mcp-remote", url] },
    entry: { url },
    remarks,
  },
  {
    title: "a version, a port and switches that mean nothing here",
    program: "cursor",
    value: { command: "npx", args: ["mcp-remote@0.1.16", url, "9696", "--debug", "--host", "127.0.0.1"] },
    entry: { url },
    remarks,
  },
  {
    title: "a transport",
    program: "claude-desktop",
    value: { command: "bunx", args: ["mcp-remote", url, "--transport", "sse-only"] },
    entry: { url, type: "sse" },
    remarks,
  },
  {
    title: "a transport with a fallback",
    program: "claude-desktop",
    value: { command: "/usr/bin/npx", args: ["-y", "mcp-remote", url, "--transport", "http-first"] },
    entry: { url },
    remarks,
  },
  {
    title: "headers, with the variables that mcp-remote fills in",
    program: "claude-desktop",
    value: {
      command: "npx",
      args: [
        "mcp-remote",
        url,
        "--header",
        "Authorization:${AUTH}",
        "--header",
        "X-Id: ${ID} $5",
        "--ignore-tool",
        "rm",
      ],
      env: { AUTH: "Bearer x$y", UNUSED: "z" },
    },
    entry: { url, headers: { Authorization: "Bearer x$$y", "X-Id": "${ID} $$5" }, excludeTools: ["rm"] },
    remarks: [...remarks, "dropped env.UNUSED"],
  },
  {
    title: "a reference of the program itself",
    program: "cursor",
    value: { command: "npx", args: ["mcp-remote", url, "--header", "Authorization: Bearer ${env:TOKEN}"] },
    entry: { url, headers: { Authorization: "Bearer ${TOKEN}" } },
    remarks: ["converted headers.Authorization", ...remarks],
  },
  {
    title: "the program by its own name",
    program: "windsurf",
    value: { command: "mcp-remote", args: [url], disabled: true },
    entry: { url },
    enabled: false,
    remarks: [...remarks, "converted enabled"],
  },
  {
    title: "a runner with words of its own, on Windows",
    program: "claude-desktop",
    value: { command: "C:\\npm\\pnpm.CMD", args: ["dlx", "--package", "mcp-remote@latest", "HTTP://h/"] },
    entry: { url: "HTTP://h/" },
    remarks,
  },
  {
    title: "a value that is a number, one from the environment, and one that is no text",
    program: "claude-desktop",
    value: {
      command: "npx",
      args: [
        "mcp-remote",
        url,
        "--header",
        "A:${N}${ON}",
        "--header",
        "B: ${O}",
        "--header",
        "C:",
        "--auth-timeout",
        "9",
      ],
      env: { N: 7, ON: true, O: {} },
    },
    entry: { url, headers: { A: "7true", B: "${O}", C: "" } },
    remarks,
  },
  {
    title: "two tools to leave out, and only HTTP",
    program: "claude-desktop",
    value: {
      command: "npx",
      args: ["mcp-remote", url, "--ignore-tool", "a", "--ignore-tool", "b", "--transport", "http-only", "--silent"],
    },
    entry: { url, type: "http", excludeTools: ["a", "b"] },
    remarks,
  },
];

const unchanged: readonly Case[] = [
  {
    title: "an option without a counterpart",
    program: "claude-desktop",
    value: { command: "npx", args: ["mcp-remote", url, "--static-oauth-client-info", "{}"] },
    entry: { command: "npx", args: ["mcp-remote", url, "--static-oauth-client-info", "{}"] },
    remarks: ["hint args"],
  },
  {
    title: "an unknown transport",
    program: "claude-desktop",
    value: { command: "npx", args: ["mcp-remote", url, "--transport", "carrier-pigeon"] },
    entry: { command: "npx", args: ["mcp-remote", url, "--transport", "carrier-pigeon"] },
    remarks: ["hint args"],
  },
  {
    title: "another package that has the name in its arguments",
    program: "claude-desktop",
    value: { command: "npx", args: ["-y", "other", "mcp-remote", url] },
    entry: { command: "npx", args: ["-y", "other", "mcp-remote", url] },
  },
  {
    title: "a word that is none of the runner's",
    program: "claude-desktop",
    value: { command: "npx", args: ["", "mcp-remote", url] },
    entry: { command: "npx", args: ["", "mcp-remote", url] },
  },
  {
    title: "arguments that are not a list",
    program: "claude-desktop",
    value: { command: "mcp-remote", args: {} },
    entry: { command: "mcp-remote" },
    remarks: ["obstacle args"],
  },
  {
    title: "no arguments",
    program: "claude-desktop",
    value: { command: "mcp-remote" },
    entry: { command: "mcp-remote" },
  },
  {
    title: "another program",
    program: "claude-desktop",
    value: { command: "node", args: ["mcp-remote", url] },
    entry: { command: "node", args: ["mcp-remote", url] },
  },
  ...(
    [
      ["no address", []],
      ["an address of another kind", ["ftp://h/"]],
      ["an address after an option", ["--debug", url]],
      ["an option without its value", [url, "--host"]],
      ["a header without a name", [url, "--header", "value"]],
      ["a port that is too long", [url, "123456"]],
      ["an empty word", [url, "", "x"]],
      ["an address inside another text", [`x${url}`]],
    ] as const
  ).map(([title, args]) => ({
    title,
    program: "claude-desktop" as const,
    value: { command: "npx", args: ["mcp-remote", ...args] },
    entry: { command: "npx", args: ["mcp-remote", ...args] },
    remarks: ["hint args"],
  })),
];

describe("mcp-remote becomes the URL that it connects to", () => {
  test.each(cases)("$title", expectConversion);

  test.each([
    ["-y"],
    ["--yes"],
    ["-q"],
    ["--quiet"],
    ["dlx"],
    ["x"],
    ["exec"],
    ["--"],
    ["-p"],
    ["--package"],
    ["exec", "--yes", "--"],
  ])("after the runner's words %s %s %s", (...words) => {
    expect(
      convert({ program: "cursor", value: { command: "npx", args: [...words, "mcp-remote", url] } }).entry,
    ).toEqual({
      url,
    });
  });

  test.each([
    [["--debug"], {}],
    [["--silent"], {}],
    [["--allow-http"], {}],
    [["--enable-proxy"], {}],
    [["--host", "h"], {}],
    [["--auth-timeout", "9"], {}],
    [["80", "--debug"], {}],
    [["--transport", "http-only"], { type: "http" }],
    [["--transport", "sse-only"], { type: "sse" }],
    [["--transport", "http-first"], {}],
    [["--transport", "sse-first"], {}],
    [["--ignore-tool", "--debug"], { excludeTools: ["--debug"] }],
    [["--header", "A:b: c"], { headers: { A: "b: c" } }],
    [["--header", "A:1", "--header", "A:2"], { headers: { A: "2" } }],
  ])("with the options %j", (options, more) => {
    const value = { command: "npx", args: ["mcp-remote", url, ...options] };
    expect(convert({ program: "cursor", value }).entry).toEqual({ url, ...more });
  });

  test.each(["npx", "bunx", "pnpx", "pnpm", "yarn", "bun", "npm", "npx.cmd", "C:\\x\\NPX.EXE"])(
    "run by %s",
    (command) => {
      expect(convert({ program: "cursor", value: { command, args: ["mcp-remote", url] } }).entry).toEqual({ url });
    },
  );
});

describe("stays a command", () => {
  test.each(unchanged)("$title", expectConversion);
});

test("an entry with a file of variables still runs mcp-remote", () => {
  const value = { command: "npx", args: ["mcp-remote", url], envFile: ".env" };
  expect(convert({ program: "vscode", value })).toEqual({
    entry: { command: "npx", args: ["mcp-remote", url] },
    enabled: true,
    envFile: ".env",
    remarks: [],
  });
});

test("the remarks say why mcp-remote is no longer needed, or why it still is", () => {
  const messages = (args: readonly string[], env: object): readonly string[] =>
    convert({ program: "claude-desktop", value: { command: "npx", args: ["mcp-remote", ...args], env } }).remarks.map(
      ({ message }) => message,
    );
  expect(messages([url], { A: "1" })).toEqual([
    "mcp-remote only connects to a URL, which Fairlead does itself",
    "Fairlead does not use mcp-remote's stored sign-in: if the server requires a sign-in, run fairlead mcp auth",
    "has no effect on a server that is reached by its URL",
  ]);
  expect(messages([url, "--what", "x"], { A: "1" })).toEqual([
    "mcp-remote has options that Fairlead cannot convert, so the entry still runs mcp-remote",
  ]);
});
