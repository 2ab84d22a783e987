import { expect, test } from "vitest";
import { createWireSummary } from "../../src/commands/bug-report.ts";

/** The summary of one message, without its size. */
function summarised(message: object): string {
  const json = JSON.stringify(message);
  return createWireSummary()(`> ${json}`).replace(` (${json.length} characters)`, "");
}

const longName = "n".repeat(200);

test.each<[message: object, summary: string]>([
  [{ id: 1, method: "tools/list" }, "> tools/list #1"],
  [{ id: "text", method: "tools/list" }, "> tools/list"],
  [{ method: longName }, `> ${"n".repeat(99)}…`],
  [{ id: 1, result: {} }, "> response to a request #1 result {}"],
  [{ id: 1, result: "secret" }, '> response to a request #1 result "(text of 6)"'],
  [
    { method: "m", params: { text: "secret", list: [1, 2], object: { a: 1 }, none: null, yes: true, number: 5 } },
    `> m params ${JSON.stringify({
      text: "(text of 6)",
      list: "(list of 2)",
      object: "(object with 1 members)",
      none: "(null)",
      yes: "(boolean)",
      number: "(number)",
    })}`,
  ],
  [{ method: "m", params: { ["k".repeat(61)]: 1 } }, `> m params {"${"k".repeat(59)}…":"(number)"}`],
  [
    { id: 2, error: { code: -32_000, message: "x".repeat(301), data: "secret" } },
    `> response to a request #2 error {"code":-32000,"message":"${"x".repeat(299)}…","data":"(text of 6)"}`,
  ],
  [{ method: "m", params: { message: "secret" } }, '> m params {"message":"(text of 6)"}'],
  [
    { method: "m", params: { code: "7", message: "secret" } },
    '> m params {"code":"(text of 1)","message":"(text of 6)"}',
  ],
  [{ method: "m", params: { code: 7, message: 8 } }, '> m params {"code":7,"message":"(number)"}'],
  [{ method: "m", params: { protocolVersion: "v".repeat(81) } }, `> m params {"protocolVersion":"${"v".repeat(79)}…"}`],
  [{ method: "m", params: { protocolVersion: 7 } }, '> m params {"protocolVersion":"(number)"}'],
  [
    { method: "m", params: { clientInfo: { name: longName, version: "1", title: "secret" }, serverInfo: {} } },
    `> m params {"clientInfo":{"name":"${"n".repeat(79)}…","version":"1"},"serverInfo":{"name":"undefined","version":"undefined"}}`,
  ],
  [
    {
      method: "m",
      params: { capabilities: { tools: { listChanged: true, deep: { a: 1 } }, text: "secret", yes: false } },
    },
    `> m params ${JSON.stringify({
      capabilities: { tools: { listChanged: true, deep: "(object with 1 members)" }, text: "(text of 6)", yes: false },
    })}`,
  ],
  [
    { method: "m", params: { capabilities: { [longName]: {} } } },
    `> m params {"capabilities":{"${"n".repeat(59)}…":{}}}`,
  ],
  [{ id: 3, method: "m", params: {}, result: [], error: 1 }, '> m #3 params {} result "(list of 0)" error "(number)"'],
])("the summary of a message has no content: %j", (message, summary) => {
  expect(summarised(message)).toBe(summary);
});

test("the summary names at most 30 capabilities", () => {
  const capabilities = Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`c${at}`, true]));
  const { c30: _last, ...first } = capabilities;
  expect(summarised({ method: "m", params: { capabilities } })).toBe(
    `> m params ${JSON.stringify({ capabilities: first })}`,
  );
});

test("the summary of a response names the method of its request", () => {
  const summary = createWireSummary();
  expect(
    [
      '> {"id":1,"method":"a"}',
      '> {"id":"1","method":"b"}',
      '> {"method":"c"}',
      '< {"id":1}',
      '< {"id":"1"}',
      "< {}",
    ].map(summary),
  ).toEqual([
    "> a #1 (21 characters)",
    "> b (23 characters)",
    "> c (14 characters)",
    "< response to a #1 (8 characters)",
    "< response to b (10 characters)",
    "< response to a request (2 characters)",
  ]);
});

test.each([
  ['< {"method":"tools/call","params":{"a":"cut', "< tools/call (41 characters)"],
  [`< {"method":"${"m".repeat(60)}",`, `< ${"m".repeat(60)} (73 characters)`],
  [`< {"method":"${"m".repeat(61)}",`, "< message (74 characters)"],
  ["< [1, 2]", "< message (6 characters)"],
  ["<", "< message (0 characters)"],
  ["", " message (0 characters)"],
])("the summary of a message that was cut has its method and size: %s", (logged, summary) => {
  expect(createWireSummary()(logged)).toBe(summary);
});
