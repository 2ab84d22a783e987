import { describe, expect, test } from "vitest";
import { emptyEditor, insert } from "../../../../src/tui/input/editor.ts";
import type { Asked } from "../../../../src/tui/state/questions.ts";
import { type DialogLook, dialogFrame, dialogLines } from "../../../../src/tui/view/dialogs/dialog-frame.ts";
import type { Frame } from "../../../../src/tui/view/frame.ts";
import type { Line } from "../../../../src/tui/view/line.ts";

const one = { index: 1, total: 1 };
const textOf = (line: Line): string => line.map(({ text }) => text).join("");

const frame = (asked: Asked, look: DialogLook = {}): Frame =>
  dialogFrame({ ...asked, key: "q" }, look, { width: 60, height: 40 });
const rows = (asked: Asked, look: DialogLook = {}, width = 60): readonly string[] =>
  dialogLines({ ...asked, key: "q" }, look, one, { width, height: 60 }).map((line) => textOf(line).trimEnd());
/** The bold text of each row in the body of the frame. */
const boldIn = ({ body }: Frame): readonly string[] =>
  body.flatMap((row) => {
    const line = "line" in row ? row.line : row;
    const text = textOf(line.filter(({ isBold }) => isBold === true));
    return text === "" ? [] : text;
  });

const url = "https://login.example/";
const address = { kind: "url", serverName: "s", message: "Hello.", url, purpose: "elicitation" } as const;
const trust = { kind: "trust", root: "/w", servers: [], approved: [] } as const;
const sampling = { kind: "sampling", serverName: "s", model: "m", params: {} } as const;
const signIn = { kind: "sign_in", serverName: "s", messages: [], canPaste: true } as const;
const clientId = { kind: "client_id", serverName: "s", issuer: "https://a", redirectUri: "http://b" } as const;
const choice = { kind: "choice", serverName: "s", message: "Which one?", options: ["a", "b"] } as const;

test.each<[Asked, string]>([
  [address, "cyan"],
  [sampling, "cyan"],
  [trust, "yellow"],
  [signIn, "cyan"],
  [clientId, "cyan"],
  [choice, "cyan"],
])("the frame of %j is %s", (asked, colour) => {
  expect(frame(asked).colour).toBe(colour);
});

test("the headings of a page to open are bold, and a sign-in names its issuer and what it asks for", () => {
  expect(boldIn(frame(address))).toEqual(["Message:", "Full address:"]);
  const consent = {
    serverName: "s",
    url,
    domain: "login.example",
    issuer: "https://issuer.example",
    scopes: ["a", "b"],
  };
  expect(rows({ ...address, message: " ", purpose: "sign_in", consent })).toEqual([
    "╭─ s asks you to sign in",
    "│ site     login.example",
    "│ issuer   https://issuer.example",
    "│ asks for a, b",
    "│ Full address:",
    url,
    "╰─ y open in the browser · h I open it myself",
    "   n no (also Enter) · Esc cancel",
  ]);
});

test("an address that cannot be read is shown as the site", () => {
  expect(rows({ ...address, url: "no-address" })[1]).toBe("│ site     no-address");
});

describe("a server that wants to use the model", () => {
  const cost = (more: object): string | undefined => rows({ ...sampling, ...more }, {}, 80)[2];
  const messages = [{ role: "user", content: { type: "text", text: "x".repeat(100) } }];

  test("is told with the cost of the messages and instructions, one token for four characters", () => {
    const whole = JSON.stringify([messages, "Be brief."]).length;
    expect(cost({ params: { messages, systemPrompt: "Be brief.", maxTokens: 5, other: "y".repeat(500) } })).toBe(
      `│ cost     about ${Math.ceil(whole / 4)} tokens in, at most 5 tokens out`,
    );
    expect(cost({ params: {} })).toBe("│ cost     about 3 tokens in, an unknown number of tokens out");
  });

  test.each([
    [{ inputTokens: 1, outputTokens: 2 }, "1 tokens in, 2 tokens out"],
    [{ inputTokens: 1 }, "not reported by the model"],
    [{ outputTokens: 2 }, "not reported by the model"],
    [{}, "not reported by the model"],
  ])("and the answer cost %j", (tokens, words) => {
    expect(cost({ answer: { text: "A cat.", ...tokens } })).toBe(`│ cost     ${words}`);
  });

  test("is shown without a heading for what it does not send", () => {
    expect(
      rows({ ...sampling, params: { messages: [{ role: "user", content: 7 }], maxTokens: 5 } }).slice(3, 5),
    ).toEqual(["│ Message (user):", "│ ▏ 7"]);
    const text = { type: "text", text: "one" };
    const image = { type: "image", data: 7 };
    expect(
      rows({ ...sampling, params: { messages: [{ role: "assistant", content: [text, image] }] } }).slice(-7),
    ).toEqual([
      "│ Message (assistant):",
      "│ ▏ one",
      "│ ▏ {",
      '│ ▏   "type": "image",',
      '│ ▏   "data": 7',
      "│ ▏ }",
      "╰─ y ask the model · n no (also Enter, Esc)",
    ]);
  });
});

const long = "Z".repeat(150);
test.each<[what: string, asked: Asked]>([
  ["a message of a page to open", { ...address, message: long }],
  ["an answer of the model", { ...sampling, model: "m", answer: { text: long } }],
  ["the instructions to the model", { ...sampling, params: { systemPrompt: long } }],
  ["a message to the model", { ...sampling, params: { messages: [{ role: "user", content: { text: long } }] } }],
  ["another parameter", { ...sampling, params: { other: long } }],
  ["a folder", { ...trust, root: long }],
  ["an issuer", { ...clientId, issuer: long }],
  ["a choice", { ...choice, options: [long] }],
])("%s that is wider than the screen is shown whole", (_, asked) => {
  for (const width of [30, 60]) expect(rows(asked, {}, width).join("").match(/Z/g)).toHaveLength(150);
});

test("every row of a long text from a server has the bar", () => {
  const messages = [{ role: "user", content: { text: long } }];
  const withText = (more: object): readonly string[] =>
    rows({ ...sampling, ...more }).filter((row) => row.includes("ZZ"));
  const whole = [56, 56, 38].map((count) => `│ ▏ ${"Z".repeat(count)}`);
  expect(withText({ params: { messages } })).toEqual(whole);
  expect(withText({ params: { systemPrompt: long } })).toEqual(whole);
  expect(withText({ answer: { text: long } })).toEqual(whole);
  expect(withText({ params: { other: long } })[0]).toBe(`│ ▏   "other": "${"Z".repeat(44)}`);
});

test("the address of a sign-in is pasted below what was told", () => {
  const messages = [{ kind: "paste_unusable", reason: "it has no code" } as const];
  const asked = { ...signIn, messages };
  const [title, ...shown] = rows(asked, { editor: insert(emptyEditor, "http://x") });
  expect(title).toBe("╭─ Sign in to s");
  expect(shown.join("\n")).toContain("it has no code");
  expect(shown.slice(-3)).toEqual([
    "│ paste the address here:",
    "│ http://x",
    "╰─ Enter use the pasted address · Esc stop the sign-in",
  ]);
  const { body } = frame(asked, { editor: insert(emptyEditor, "http://x") });
  expect(boldIn(frame(asked))).toEqual(["paste the address here:"]);
  // The cursor shows that the field takes keys.
  expect(body.flatMap((row) => ("line" in row ? row.line : row)).filter(({ isInverse }) => isInverse)).toHaveLength(1);
});

test("a client ID is asked for with the issuer and the redirect URI", () => {
  expect(rows(clientId, { editor: insert(emptyEditor, "abc") })).toEqual([
    "╭─ Sign in to s: client ID",
    "│ issuer   https://a",
    "│ The authorization server does not register clients",
    "│ automatically. Register a client there with the redirect",
    "│ URI below, then enter its client ID.",
    "│ redirect http://b",
    "│ client ID:",
    "│ abc",
    "╰─ Enter use this client ID · Esc stop the sign-in",
  ]);
});

test("the first option is marked, and Enter takes the marked one", () => {
  expect(rows(choice)).toEqual([
    "╭─ s: choose one",
    "│ Which one?",
    "│ (•) a",
    "│ ( ) b",
    "╰─ ↑↓ choose · Enter this one · Esc none",
  ]);
  expect(rows(choice, { at: 1 }).slice(2, 4)).toEqual(["│ ( ) a", "│ (•) b"]);
  expect(rows({ ...choice, options: ["y".repeat(30)] }, { at: 0 }, 30).slice(2, 4)).toEqual([
    `│ (•) ${"y".repeat(24)}`,
    `│     ${"y".repeat(6)}`,
  ]);
});
