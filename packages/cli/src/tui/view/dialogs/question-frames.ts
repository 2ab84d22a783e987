/** Lays out all questions except confirmations and forms. */

import { approvalFields, layout } from "@fairlead/console/server/words/server-details";
import { joinSafe, safe, splitSafe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { isObject, listOf, member } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import { count } from "../../../output/output.ts";
import { messageLines } from "../../../sign-in/message-lines.ts";
import type { Editor } from "../../input/editor.ts";
import type { QuestionOf } from "../../state/questions.ts";
import { bodyWidth, type Frame, type Room, type Row } from "../frame.ts";
import { type Line, span, wrapLine, wrapWhole } from "../line.ts";
import { decisionLines, jsonLines, quoteColumns } from "../text-lines.ts";
import { addressRows, fieldLines, key, labelled, nameSpan, section, speech } from "./dialog-parts.ts";

/** The question whether to open a URL, for an elicitation or a sign-in. */
export function urlFrame(question: QuestionOf<"url">, room: Room): Frame {
  const { serverName, message, url, purpose, consent } = question;
  const width = bodyWidth(room);
  const isSignIn = purpose === "sign_in";
  const words = isSignIn ? safe` asks you to sign in` : safe` asks you to open a page`;
  const scopes = consent?.scopes ?? [];
  return {
    title: [nameSpan(serverName), span(words)],
    colour: "cyan",
    body: [
      ...labelled(safe`site`, siteOf(url), width),
      ...(consent === undefined ? [] : labelled(safe`issuer`, consent.issuer, width)),
      ...(consent?.tokenHost === undefined ? [] : labelled(safe`tokens`, `from ${consent.tokenHost}`, width)),
      ...(scopes.length === 0 ? [] : labelled(safe`asks for`, scopes.join(", "), width)),
      ...speech(safe`Message:`, message, width),
      ...wrapLine([span(safe`Full address:`, { isBold: true })], width),
      ...addressRows(url, { width: room.width, body: width }),
    ],
    keys: [
      key(safe`y`, safe`open in the browser`),
      key(safe`h`, safe`I open it myself`),
      key(safe`n`, isSignIn ? safe`no (also Enter)` : safe`decline (also Enter)`),
      key(safe`Esc`, safe`cancel`),
    ],
  };
}

/** Returns the host in Punycode (`xn--…`), which reveals letters that look like other letters. */
function siteOf(url: string): string {
  if (parseUrl(url) === undefined) return url;
  const { protocol, host } = new URL(url);
  return protocol === "https:" ? host : `${host} (NOT encrypted: ${protocol}//)`;
}

/** The question whether a server may use the model, or receive the model's answer. */
export function samplingFrame(question: QuestionOf<"sampling">, room: Room): Frame {
  const { serverName, params, model, answer } = question;
  const width = bodyWidth(room);
  const title = answer === undefined ? safe` wants to ask your model` : safe` wants to receive this answer`;
  return {
    title: [nameSpan(serverName), span(title)],
    colour: "cyan",
    body: [
      ...labelled(safe`model`, model, width),
      ...labelled(safe`cost`, answer === undefined ? costBefore(params) : costAfter(answer), width),
      ...(answer === undefined
        ? requestLines(params, width)
        : section(safe`The model's answer:`, decisionLines(answer.text, width - quoteColumns), width)),
    ],
    keys: [
      key(safe`y`, answer === undefined ? safe`ask the model` : safe`give the answer to the server`),
      key(safe`n`, safe`no (also Enter, Esc)`),
    ],
  };
}

/** A rough estimate. */
const charactersPerToken = 4;

function costBefore(params: object): string {
  const texts = JSON.stringify([member(params, "messages"), member(params, "systemPrompt")]);
  const most = member(params, "maxTokens");
  const out = typeof most === "number" ? `at most ${most}` : "an unknown number of";
  return `about ${Math.ceil(texts.length / charactersPerToken)} tokens in, ${out} tokens out`;
}

function costAfter({ inputTokens, outputTokens }: NonNullable<QuestionOf<"sampling">["answer"]>): string {
  if (inputTokens === undefined || outputTokens === undefined) return "not reported by the model";
  return `${inputTokens} tokens in, ${outputTokens} tokens out`;
}

function requestLines(params: object, width: number): readonly Line[] {
  const system = member(params, "systemPrompt");
  const messages = listOf(member(params, "messages"));
  const shown = new Set(["messages", "systemPrompt"]);
  const others = Object.fromEntries(Object.entries(params).filter(([name]) => !shown.has(name)));
  return [
    ...(typeof system === "string" ? speech(safe`The server's instructions to the model:`, system, width) : []),
    ...messages.flatMap((message) => {
      const role = toVisibleLine(String(member(message, "role")));
      return section(safe`Message (${role}):`, contentLines(member(message, "content"), width - quoteColumns), width);
    }),
    ...(Object.keys(others).length === 0
      ? []
      : section(safe`Other parameters:`, jsonLines(others, width - quoteColumns), width)),
  ];
}

function contentLines(content: unknown, width: number): readonly Line[] {
  return [content].flat().flatMap((block) => {
    const text = member(block, "text");
    return typeof text === "string" ? decisionLines(text, width) : jsonLines(withoutBytes(block), width);
  });
}

/** The user cannot read base64 data, so its length is shown instead. */
function withoutBytes(block: unknown): unknown {
  const data = member(block, "data");
  return isObject(block) && typeof data === "string"
    ? { ...block, data: `(${data.length} characters of base64)` }
    : block;
}

/** The question whether to trust the folder, with the full definition of each server to approve. */
export function trustFrame({ root, servers, approved }: QuestionOf<"trust">, room: Room): Frame {
  const width = bodyWidth(room);
  const boxed = servers.filter(({ offered }) => offered !== undefined);
  return {
    title: [span(safe`Do you trust this folder and its servers?`)],
    colour: "yellow",
    body: [
      ...labelled(safe`folder`, root, width),
      ...wrapLine(
        [
          span(
            safe`If you trust the folder, its .gemini/settings.json and .env files are used and these servers start:`,
          ),
        ],
        width,
      ),
      ...servers.flatMap(({ server, definition, changed, offered }) => {
        const name = toVisibleLine(definition.name);
        const heading = changed === undefined ? name : safe`${name} (CHANGED: it ${toVisibleLine(changed)})`;
        const shown = approvalFields(definition, server);
        const box = { label: safe`with s`, values: offered === undefined ? [] : [toVisibleLine(offered)] };
        const fields = splitSafe(layout([...shown, box], safe``));
        const lines = fields.flatMap((field) => wrapWhole([span(field)], width - quoteColumns));
        return section(heading, lines, width);
      }),
      ...(approved.length === 0
        ? []
        : wrapLine([span(safe`already approved: ${joinSafe(approved.map(toVisibleLine), safe`, `)}`)], width)),
      ...(servers.length + approved.length === 0 ? wrapLine([span(safe`The folder defines no servers.`)], width) : []),
    ],
    keys: [
      ...(boxed.length === 0
        ? []
        : [
            key(
              safe`s`,
              safe`trust and start, ${count(boxed.length, "program")} in a sandbox (written into the settings)`,
            ),
          ]),
      key(safe`y`, safe`trust the folder and start ${count(servers.length + approved.length, "server")}`),
      key(safe`n`, safe`no (also Enter, Esc): none of its servers starts`),
    ],
  };
}

/** A running sign-in: its messages, and a field for the browser's address if it can be pasted. */
export function signInFrame(question: QuestionOf<"sign_in">, editor: Editor, room: Room): Frame {
  const { serverName, messages, canPaste } = question;
  const width = bodyWidth(room);
  const told = messages.flatMap((message): readonly Row[] =>
    messageLines(message, { location: "desk", browserFirst: !canPaste }).flatMap((line): readonly Row[] =>
      // An address has no bar on the left, so that the user can copy it.
      /^https?:\/\/\S+$/.test(line)
        ? addressRows(line, { width: room.width, body: width })
        : wrapLine([span(line)], width),
    ),
  );
  return {
    title: [span(safe`Sign in to `), nameSpan(serverName)],
    colour: "cyan",
    body: [...told, ...(canPaste ? fieldLines(safe`paste the address here:`, editor, width) : [])],
    keys: canPaste
      ? [key(safe`Enter`, safe`use the pasted address`), key(safe`Esc`, safe`stop the sign-in`)]
      : [key(safe`n`, safe`stop the sign-in (also Esc)`)],
  };
}

/** Asks for the OAuth client ID that the user has registered. */
export function clientIdFrame(question: QuestionOf<"client_id">, editor: Editor, room: Room): Frame {
  const { serverName, issuer, redirectUri } = question;
  const width = bodyWidth(room);
  const words = safe`The authorization server does not register clients automatically. Register a client there with the redirect URI below, then enter its client ID.`;
  return {
    title: [span(safe`Sign in to `), nameSpan(serverName), span(safe`: client ID`)],
    colour: "cyan",
    body: [
      ...labelled(safe`issuer`, issuer, width),
      ...wrapLine([span(words)], width),
      ...labelled(safe`redirect`, redirectUri, width),
      ...fieldLines(safe`client ID:`, editor, width),
    ],
    keys: [key(safe`Enter`, safe`use this client ID`), key(safe`Esc`, safe`stop the sign-in`)],
  };
}

/** A list of options. `chosen`: index of the marked option. */
export function choiceFrame(question: QuestionOf<"choice">, chosen: number, room: Room): Frame {
  const { serverName, message, options } = question;
  const width = bodyWidth(room);
  const asked = wrapLine([span(toSafeLine(message))], width);
  const rows = options.map((option, at) =>
    wrapWhole([span(toVisibleLine(option))], width - 4).map((row, index) => [
      span(index > 0 ? safe`    ` : at === chosen ? safe`(•) ` : safe`( ) `, { isBold: at === chosen }),
      ...row,
    ]),
  );
  // The question stays on the screen until the selected option would be below it.
  const to = asked.length + rows.slice(0, chosen + 1).flat().length;
  return {
    title: [nameSpan(serverName), span(safe`: choose one`)],
    colour: "cyan",
    body: [...asked, ...rows.flat()],
    focused: { from: to - (rows[chosen]?.length ?? 0), to },
    keys: [key(safe`↑↓`, safe`choose`), key(safe`Enter`, safe`this one`), key(safe`Esc`, safe`none`)],
  };
}
