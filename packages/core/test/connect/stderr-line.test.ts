import { expect, test } from "vitest";
import { isSilent, npmFailure, stderrLine } from "../../src/connect/connect-failure.ts";

const log = "npm error A complete log of this run can be found in: /home/ada/.npm/_logs/x-debug-0.log";
const notFound = [
  "npm error code E404",
  "npm error 404 Not Found - GET https://registry.example/@x%2fy - Not found",
  "npm error 404",
  "npm error 404  The requested resource '@x/y@*' could not be found or you do not have permission to access it.",
  "npm error 404",
  "npm error 404 Note that you can also install from a",
  "npm error 404 tarball, folder, http url, or git url.",
  "npm notice New minor version of npm available! 11.19.1 -> 11.21.1",
  log,
];

test.each([
  [
    "a package that does not exist",
    notFound,
    "E404 The requested resource '@x/y@*' could not be found or you do not have permission to access it.",
  ],
  [
    "the same in the words of older versions",
    [
      "npm ERR! code E404",
      "npm ERR! 404 Not Found - GET https://r/x",
      "npm ERR! 404  'x@*' is not in this registry.",
      log,
    ],
    "E404 'x@*' is not in this registry.",
  ],
  [
    "a version that does not exist",
    [
      "npm error code ETARGET",
      "npm error notarget No matching version found for x@9.",
      "npm error notarget In most cases",
      log,
    ],
    "ETARGET No matching version found for x@9.",
  ],
  [
    "a registry that cannot be reached",
    [
      "npm error code ENOTFOUND",
      "npm error syscall getaddrinfo",
      "npm error network request to https://r/x failed, reason: getaddrinfo ENOTFOUND r",
      "npm error network This is a problem related to network connectivity.",
      log,
    ],
    "ENOTFOUND request to https://r/x failed, reason: getaddrinfo ENOTFOUND r",
  ],
  [
    "a package without a program",
    ["npm error could not determine executable to run", log],
    "could not determine executable to run",
  ],
  [
    "a script that failed by itself: its own words, not npm's",
    [
      "Error: DATABASE_URL is missing",
      "    at main (server.js:1:1)",
      "npm error Lifecycle script `start` failed",
      "npm error code 1",
      log,
    ],
    "Error: DATABASE_URL is missing",
  ],
  [
    "uvx, which breaks its message into lines",
    [
      "  × No solution found when resolving tool dependencies:",
      "  ╰─▶ Because y was not found in the package registry and you require",
      "      y, your requirements are unsatisfiable.",
    ],
    "╰─▶ Because y was not found in the package registry and you require",
  ],
  ["a program that is no npm at all", ["starting", "giving up"], "giving up"],
])("the line that matters: %s", (_what, lines, expected) => {
  expect(stderrLine(lines)).toBe(`stderr: ${expected}`);
});

test("nothing was written", () => {
  expect(stderrLine(["", "  "])).toBeUndefined();
});

test("whether the settings name a wrong package", () => {
  expect(npmFailure(notFound)?.isPackage).toBe(true);
  expect(npmFailure(["npm error code ENOTFOUND"])?.isPackage).toBe(false);
  expect(npmFailure(["npm error code 1"])).toBeUndefined();
});

test.each([
  ["the last line that names a problem", ["Error: first", "Error: second", "bye"], "Error: second"],
  ["the last line, not npm's notice after it", ["starting", "giving up", "npm notice update", "  "], "giving up"],
  ["npm's last line, if there is no other", ["npm warn first", "npm warn second", "  "], "npm warn second"],
  ["a line without the spaces around it", ["  giving up \t"], "giving up"],
  ["at most 200 characters of the server's line", ["x".repeat(201)], "x".repeat(200)],
  [
    "at most 200 characters of npm's line",
    ["npm error code EX", `npm error ${"x".repeat(201)}`],
    `EX ${"x".repeat(197)}`,
  ],
])("the line that matters: %s", (_what, lines, expected) => {
  expect(stderrLine(lines)).toBe(`stderr: ${expected}`);
});

test.each([
  [
    ["code E404", "404 Not Found", "404 x is not in this registry", "404 y could not be found"],
    "E404 x is not in this registry",
    true,
  ],
  [["code E404", "404 Not Found", "404 Really"], "E404 Not Found", true],
  [["code ETARGET", "code E404", "404 words"], "E404 words", true],
  [["code ETARGET", "notarget none"], "ETARGET none", true],
  [["code ETARGET", "etarget none"], "ETARGET etarget none", true],
  [["code ETARGET", "Target none"], "ETARGET none", true],
  [["code EINVALIDPACKAGENAME", "Invalid package name"], "EINVALIDPACKAGENAME Invalid package name", true],
  [["code ENOVERSIONS"], "ENOVERSIONS", true],
  [["code EACCES", "syscall open", "permission denied"], "EACCES permission denied", false],
  [["code EX", "", "code 1", "A complete log of this run", "A complete log of this run is at /x"], "EX", false],
  [["words", "could not determine executable to run"], "could not determine executable to run", true],
])("npm's lines %j: the user reads %j", (lines, text, isPackage) => {
  expect(npmFailure(lines.map((line) => `npm error ${line}`))).toEqual({ text, isPackage, isNetwork: false });
});

test.each(["EAI_AGAIN", "ENOTFOUND", "ECONNREFUSED", "ETIMEDOUT"])("npm's code %s is about the network", (code) => {
  expect(npmFailure([`npm error code ${code}`])).toEqual({ text: code, isPackage: false, isNetwork: true });
});

test.each<[readonly string[], boolean]>([
  [[], true],
  [["", "  "], true],
  [["npm warn exec The following package was not found", "npm notice New version"], true],
  [["npm error code E404"], false],
  [["npm error something"], false],
  [["npm warn exec", "no API key"], false],
])("the lines %j explain nothing: %s", (lines, isSo) => {
  expect(isSilent(lines)).toBe(isSo);
});
