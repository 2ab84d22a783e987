import { describe, expect, test } from "vitest";
import { createRedactor } from "../../src/connect/redact.ts";
import { createTrafficLog } from "../../src/connect/traffic-log.ts";

/** A traffic log that hides `secret`, and what it wrote. */
function watched(hide = (text: string) => text.replaceAll("secret", "(hidden)"), isRelay = false) {
  const written: string[] = [];
  const lines: string[] = [];
  let redactions = 0;
  const log = {
    path: "",
    write: (kind: string, text: string) => void written.push(`${kind} ${text}`),
    close: async () => {},
  };
  const traffic = createTrafficLog({
    log,
    redact(text) {
      redactions += 1;
      return hide(text);
    },
    debug: false,
    isRelay,
    onFirstMessage: () => {},
    onStderrLine: (line) => lines.push(line),
  });
  return { traffic, written, lines, redactions: () => redactions };
}

test("the lines of a chunk are redacted and written together", () => {
  const { traffic, written, lines, redactions } = watched();
  traffic.listeners.onStderr(`${"all work\n".repeat(1000)}and`);
  expect(redactions()).toBe(1);
  expect(written).toHaveLength(1);
  expect(lines).toEqual(Array.from({ length: 1000 }, () => "all work"));
  traffic.listeners.onStderr(" no play\n");
  expect(lines.at(-1)).toBe("and no play");
});

test("a secret is hidden in its line, and in a line that arrives in pieces", () => {
  const { traffic, written, lines } = watched();
  traffic.listeners.onStderr("one\na secret\nthe sec");
  traffic.listeners.onStderr("ret again\n");
  expect(lines).toEqual(["one", "a (hidden)", "the (hidden) again"]);
  expect(written.join("\n")).not.toContain("secret");
});

describe("a private key that the server was not given", () => {
  const body = [
    "MIIEvQIBADANBgkqhkiG9w0BAQEF/ASCBKcwggSj",
    "AgEAAoIBAQC7VJTUt9Us8cKjMzEfYyjiWA4R4/M2",
    "bS1+fWIcPm15==",
  ];
  const text = [
    "start",
    "-----BEGIN RSA PRIVATE KEY-----",
    ...body,
    "-----END RSA PRIVATE KEY-----",
    "ready to go",
    "",
  ].join("\n");

  test("is hidden with all its lines", () => {
    const { traffic, written, lines } = watched(createRedactor([]));
    traffic.listeners.onStderr(text);
    expect(lines).toEqual(["start", "(hidden)", "ready to go"]);
    expect(written).toEqual(["stderr start\n(hidden)\nready to go"]);
    expect(traffic.observed().stderr).toEqual(lines);
  });

  test.each(Array.from(text, (_, at) => at))("is hidden if it arrives in two pieces, cut at %i", (at) => {
    const { traffic, written, lines } = watched(createRedactor([]));
    traffic.listeners.onStderr(text.slice(0, at));
    traffic.listeners.onStderr(text.slice(at));
    expect(lines.filter((line) => !line.startsWith("-----END"))).toEqual(["start", "(hidden)", "ready to go"]);
    for (const line of body) expect(written.join("\n")).not.toContain(line);
  });

  test("hides no later message if it has no end", () => {
    const { traffic, lines } = watched(createRedactor([]));
    traffic.listeners.onStderr(`${text.slice(0, text.indexOf("-----END"))}`);
    traffic.listeners.onStderr("FATAL: the key is not complete\nbye\n");
    expect(lines).toEqual(["start", "(hidden)", "FATAL: the key is not complete", "bye"]);
  });
});

test("of too many lines the first are kept, the others counted, and the last ones explain a failure", () => {
  const { traffic, lines } = watched();
  const numbers = Array.from({ length: 10_000 }, (_, at) => `line ${at}\n`).join("");
  traffic.listeners.onStderr(`${numbers}FATAL: no secret\n`);
  expect(lines).toHaveLength(2000);
  const { stderr } = traffic.observed();
  expect(stderr).toHaveLength(40);
  expect(stderr.at(-1)).toBe("FATAL: no (hidden)");
  expect(stderr.at(-2)).toBe("line 9999");
  const dropped = lines.filter((line) => line.includes("dropped"));
  expect(dropped).toEqual([expect.stringMatching(/^\(7,\d{3} lines dropped: the server wrote too fast\)$/)]);
});

test.each([
  ["a session forgets the stderr lines and diagnostics of", false, [1, 1]],
  ["a session keeps the stderr lines and diagnostics of", false, [1, 2]],
  ["a relay keeps the stderr lines and diagnostics of", true, [0, 1]],
  ["a relay keeps the stderr lines and diagnostics of", true, [1, 1]],
])("%s its first request (relay: %s, ids of the requests: %j)", (_what, isRelay, [first, second]) => {
  const { traffic, written } = watched(undefined, isRelay);
  const { onMessage, onStderr, onDiagnostic } = traffic.listeners;
  onMessage("sent", { jsonrpc: "2.0", id: first, method: "initialize" });
  onStderr("no key\n");
  onDiagnostic("not JSON");
  onMessage("sent", { jsonrpc: "2.0", id: second, method: "tools/list" });
  const isForgotten = !isRelay && first === second;
  expect(written.includes("note trying another protocol")).toBe(isForgotten);
  expect(traffic.observed()).toMatchObject({
    lastRequest: "tools/list",
    stderr: isForgotten ? [] : ["no key"],
    diagnostics: isForgotten ? [] : ["not JSON"],
  });
});
