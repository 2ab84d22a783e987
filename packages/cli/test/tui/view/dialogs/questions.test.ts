import { expect, test } from "vitest";
import { openDialog } from "../../../../src/tui/state/dialog.ts";
import type { Asked } from "../../../../src/tui/state/questions.ts";
import { dialogLines } from "../../../../src/tui/view/dialogs/dialog-frame.ts";

const rows = (asked: Asked, width = 60): readonly string[] => {
  const question = { ...asked, key: "q" };
  const lines = dialogLines(question, openDialog(question), { index: 1, total: 1 }, { width, height: 40 });
  return lines.map((line) =>
    line
      .map(({ text }) => text)
      .join("")
      .trimEnd(),
  );
};

test("a page to open: whose it is stands first, and the whole address can be copied", () => {
  const url = `https://login.example.org/authorize?state=${"x".repeat(40)}`;
  expect(rows({ kind: "url", serverName: "github", message: "Sign here.", url, purpose: "elicitation" })).toEqual([
    "╭─ github asks you to open a page",
    "│ site     login.example.org",
    "│ Message:",
    "│ ▏ Sign here.",
    "│ Full address:",
    url.slice(0, 60),
    url.slice(60),
    "╰─ y open in the browser · h I open it myself",
    "   n decline (also Enter) · Esc cancel",
  ]);
});

test("a folder to trust: its servers, the ones approved before, or that it has none", () => {
  const trust = (approved: readonly string[]): readonly string[] =>
    rows({ kind: "trust", root: "/work/here", servers: [], approved });
  expect(trust([])).toEqual([
    "╭─ Do you trust this folder and its servers?",
    "│ folder   /work/here",
    "│ If you trust the folder, its .gemini/settings.json and",
    "│ .env files are used and these servers start:",
    "│ The folder defines no servers.",
    "╰─ y trust the folder and start 0 servers",
    "   n no (also Enter, Esc): none of its servers starts",
  ]);
  expect(trust(["db", "mail"]).slice(4, 6)).toEqual([
    "│ already approved: db, mail",
    "╰─ y trust the folder and start 2 servers",
  ]);
});

test.each([
  ["letters of another alphabet", "https://gоogle.com/", "xn--gogle-jye.com"],
  ["no encryption", "http://example.org/", "example.org (NOT encrypted: http://)"],
])("a site with %s is shown as what it is", (_, url, site) => {
  const shown = rows({ kind: "url", serverName: "s", message: "", url, purpose: "elicitation" });
  expect(shown[1]).toBe(`│ site     ${site}`);
});

test("an address that is not plain stands behind the bar", () => {
  const shown = rows({
    kind: "url",
    serverName: "s",
    message: "",
    url: "https://a.example/\u202e│",
    purpose: "elicitation",
  });
  expect(shown).toContain("│ ▏ https://a.example/⟨U+202E⟩│");
});

test("a model is asked only after its question and the cost were seen, and answers only after theirs", () => {
  const messages = [
    { role: "user", content: { type: "text", text: "What is\nthis?" } },
    { role: "user", content: { type: "image", data: "AAAA", mimeType: "image/png" } },
  ];
  const params = { systemPrompt: "Be brief.", messages, maxTokens: 50, temperature: 1 };
  expect(rows({ kind: "sampling", serverName: "s", model: "gemini-x", params })).toEqual([
    "╭─ s wants to ask your model",
    "│ model    gemini-x",
    expect.stringMatching(/^│ cost {5}about \d+ tokens in, at most 50 tokens out$/),
    "│ The server's instructions to the model:",
    "│ ▏ Be brief.",
    "│ Message (user):",
    "│ ▏ What is",
    "│ ▏ this?",
    "│ Message (user):",
    "│ ▏ {",
    '│ ▏   "type": "image",',
    '│ ▏   "data": "(4 characters of base64)",',
    '│ ▏   "mimeType": "image/png"',
    "│ ▏ }",
    "│ Other parameters:",
    "│ ▏ {",
    '│ ▏   "maxTokens": 50,',
    '│ ▏   "temperature": 1',
    "│ ▏ }",
    "╰─ y ask the model · n no (also Enter, Esc)",
  ]);
  const answer = { text: "A cat.", inputTokens: 12, outputTokens: 3 };
  expect(rows({ kind: "sampling", serverName: "s", model: "gemini-x", params, answer })).toEqual([
    "╭─ s wants to receive this answer",
    "│ model    gemini-x",
    "│ cost     12 tokens in, 3 tokens out",
    "│ The model's answer:",
    "│ ▏ A cat.",
    "╰─ y give the answer to the server · n no (also Enter, Esc)",
  ]);
});

test("a form names who asks, warns about secrets, and says what the field takes", () => {
  const schema = {
    type: "object",
    required: ["size"],
    properties: {
      size: { type: "string", enum: ["s", "l"], description: "How big." },
      token: { type: "string", title: "Your token" },
      count: { type: "integer", minimum: 1, maximum: 9, default: 3 },
    },
  };
  expect(rows({ kind: "form", serverName: "shop", message: "Order?", schema, purpose: "elicitation" })).toEqual([
    "╭─ shop asks you",
    "│ Message:",
    "│ ▏ Order?",
    "│ › size (required)",
    "│     ( ) s",
    "│     ( ) l",
    "│   ▏ How big.",
    "│   Your token (token)",
    "│   (empty)",
    "│   ! asks for a secret: enter it only if this server may",
    "│   have it",
    "│   count",
    "│   3",
    "│   [ Send to the server ]",
    "│   [ Decline ]",
    "╰─ ↑↓ choose · Tab fields · Enter next · Esc cancel",
  ]);
});

test("a form for arguments names the tool, and what a server says of a field stands behind a bar, line by line", () => {
  const schema = { type: "object", properties: { a: { type: "string", description: "one\n[y] yes" } } };
  const shown = rows({ kind: "form", serverName: "s", toolName: "t", message: "", schema, purpose: "arguments" });
  expect(shown[0]).toBe("╭─ Arguments for s.t");
  expect(shown).toContain("│   ▏ one");
  expect(shown).toContain("│   ▏ [y] yes");
});

test("before a sign-in it is told where the tokens come from, if not from the issuer", () => {
  const url = "https://login.example/";
  const consent = { serverName: "s", url, domain: "login.example", issuer: url, tokenHost: "t.example", scopes: [] };
  const shown = rows({ kind: "url", serverName: "s", message: "", url, purpose: "sign_in", consent });
  expect(shown).toContain("│ tokens   from t.example");
});

test("a device code: the code, the address to copy, and one way to stop", () => {
  const code = {
    issuer: "https://login.example",
    verificationUri: "https://login.example/activate",
    userCode: "AB-12",
  };
  const messages = [{ kind: "device", serverName: "docs", minutes: 10, ...code } as const];
  expect(rows({ kind: "sign_in", serverName: "docs", messages, canPaste: false })).toEqual([
    "╭─ Sign in to docs",
    '│ "docs" requires a sign-in (authorization server',
    "│ https://login.example).",
    "│ On any device, open",
    "│",
    "https://login.example/activate",
    "│",
    "│ and type this code: AB-12",
    "│ The code expires in 10 minutes. Waiting for you to finish",
    "│ there.",
    "╰─ n stop the sign-in (also Esc)",
  ]);
});

test("the chosen option has the mark and is bold, and so is no other", () => {
  const question = { kind: "choice", serverName: "s", message: "m", options: ["a", "b"], key: "q" } as const;
  const marks = (at: number) =>
    dialogLines(question, { at }, { index: 1, total: 1 }, { width: 60, height: 40 })
      .flat()
      .filter(({ text }) => /^\([• ]\) $/.test(text))
      .map(({ text, isBold }) => [text, isBold === true]);
  expect(marks(0)).toEqual([
    ["(•) ", true],
    ["( ) ", false],
  ]);
  expect(marks(1)).toEqual([
    ["( ) ", false],
    ["(•) ", true],
  ]);
});

test("a field says which values it takes", () => {
  const hints = (schema: object): readonly string[] =>
    rows({
      kind: "form",
      serverName: "s",
      message: "",
      purpose: "elicitation",
      schema: { type: "object", properties: { field: schema } },
    });
  const text = (schema: object): string => hints(schema).join("\n");
  expect(text({ type: "string", minLength: 2, maxLength: 5 })).toContain("2 to 5 characters");
  expect(text({ type: "string", minLength: 2 })).toContain("at least 2 characters");
  expect(text({ type: "string", maxLength: 5 })).toContain("at most 5 characters");
  expect(text({ type: "integer", minimum: 1, maximum: 9 })).toContain("a whole number, 1 to 9");
  expect(text({ type: "number" })).toContain("a number");
  expect(text({ type: "string", default: "x" })).toContain('default: "x"');
  expect(text({ type: "string" })).not.toMatch(/characters|default/);
});
