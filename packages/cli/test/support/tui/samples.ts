/** Questions and items to look at, with texts that can be chosen: every text that comes from elsewhere is the given one. */

import { type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "@fairlead/core/policy/confirmation";
import { type ConfirmationAsker, toConfirmationView } from "@fairlead/core/policy/confirmation-view";
import type { Asked, QuestionOf, UserQuestion } from "../../../src/tui/state/questions.ts";
import type { CallCard, TranscriptItem } from "../../../src/tui/state/transcript.ts";

export function confirmationDetails(changes: Partial<ToolCallConfirmationDetails> = {}): ToolCallConfirmationDetails {
  return {
    type: "mcp",
    title: "Confirm MCP Tool Execution",
    serverName: "github",
    toolName: "create_issue",
    toolDisplayName: "create_issue",
    description: "Creates an issue.",
    args: { title: "Hello", body: "one\ntwo" },
    outcomes: Object.values(ToolConfirmationOutcome),
    onConfirm: () => Promise.resolve(),
    ...changes,
  };
}

export function confirmation(
  changes: Partial<ToolCallConfirmationDetails> = {},
  asker: ConfirmationAsker = { who: "model" },
): QuestionOf<"confirmation"> {
  return { key: "q", kind: "confirmation", view: toConfirmationView(confirmationDetails(changes), asker) };
}

export const card = (more: Partial<CallCard> = {}): CallCard => ({
  id: "1",
  server: "github",
  tool: "create_issue",
  args: { title: "Hello" },
  status: "running",
  files: [],
  media: [],
  isOpen: false,
  ...more,
});

/** One question of every kind that holds nothing but this text. */
export function questionsOf(text: string): readonly UserQuestion[] {
  const schema = {
    type: "object",
    required: [text],
    properties: Object.fromEntries([
      [text, { type: "string", title: text, description: text, default: text }],
      ["choice", { enum: [text, "b"], title: text }],
      ["choices", { type: "array", items: { enum: [text, "b"] }, default: [text] }],
      ["password", { type: "string", title: text }],
    ]),
  };
  const asked: readonly Asked[] = [
    confirmation({
      serverName: text,
      toolName: text,
      toolDisplayName: `x${text}`,
      description: text,
      args: Object.fromEntries([[text, text]]),
      annotations: Object.fromEntries([
        ["readOnlyHint", true],
        ["title", text],
        [text, text],
      ]),
      rule: { decision: "ask_user", tier: "user", text },
      change: [{ member: text, before: text, after: text }],
    }),
    { kind: "form", serverName: text, message: text, schema, purpose: "elicitation" },
    { kind: "form", serverName: text, message: text, schema, purpose: "arguments" },
    { kind: "url", serverName: text, message: text, url: `https://example.org/${text}`, purpose: "elicitation" },
    {
      kind: "url",
      serverName: text,
      message: text,
      url: text,
      purpose: "sign_in",
      consent: { serverName: text, url: text, domain: text, issuer: text, scopes: [text] },
    },
    {
      kind: "sampling",
      serverName: text,
      model: text,
      params: {
        systemPrompt: text,
        maxTokens: 100,
        messages: [
          { role: text, content: { type: "text", text } },
          { role: "user", content: [{ type: "image", data: text, mimeType: text }] },
        ],
        [`x${text}`]: text,
      },
    },
    { kind: "sampling", serverName: text, model: text, params: {}, answer: { text, inputTokens: 1, outputTokens: 2 } },
    { kind: "trust", root: text, servers: [], approved: [] },
    {
      kind: "sign_in",
      serverName: text,
      canPaste: true,
      messages: [
        { kind: "paste_unusable", reason: text },
        { kind: "issuer_override", issuer: text, instead: [text] },
        { kind: "signed_in", serverName: text, issuer: text, scopes: [text], account: text },
      ],
    },
    { kind: "client_id", serverName: text, issuer: text, redirectUri: text },
    { kind: "choice", serverName: text, message: text, options: [text, "b"] },
  ];
  return asked.map((each) => ({ ...each, key: "q" }));
}

export function itemsOf(text: string): readonly TranscriptItem[] {
  const call = card({
    server: text,
    tool: text,
    args: Object.fromEntries([[text, text]]),
    display: text,
    files: [text],
    media: [{ mimeType: text, data: "AAAA" }],
    progress: { progress: 1, total: 2, message: text },
  });
  const error = { code: "tool_error", message: text, next: text } as const;
  return [
    { key: "1", kind: "person", text, attachments: [text] },
    { key: "2", kind: "answer", text, isDone: true },
    {
      key: "3",
      kind: "answer",
      text: `# ${text}\n\n- ${text}\n\n> **${text}**\n\n\`\`\`js\n${text}\n\`\`\`\n\n| ${text} | b |\n|-|-|\n| [x](${text}) | ${text} |`,
      isDone: true,
    },
    { key: "4", kind: "thought", text, isDone: true },
    { key: "5", kind: "call", call },
    { key: "6", kind: "call", call: { ...call, isOpen: true, status: "error", error } },
    { key: "7", kind: "note", tone: "error", text, next: text },
    { key: "8", kind: "output", title: text, text },
  ];
}
