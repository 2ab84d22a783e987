/** Prints the result of `prompts/get`: messages with their roles, or one JSON document. */

import type { Host } from "@fairlead/core/host";
import { joinSafe, type SafeText, safe, splitSafe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { contentDocument } from "../../shell/content-block.ts";
import { nothingSaved, saveMedia } from "../../shell/save-media.ts";
import type { Context } from "../../shell/verb.ts";
import { type DisplayOptions, display } from "./display.ts";
import type { DrawImage } from "./inline-image.ts";

type Result = Awaited<ReturnType<Host["getPrompt"]>>;
type Message = Result["messages"][number];

export interface PromptReport {
  readonly server: string;
  /** The server's own name for it. */
  readonly prompt: string;
  readonly result: Result;
  /** The folder for images and audio; undefined: they are not saved. */
  readonly folder: string | undefined;
  readonly draw: DrawImage | undefined;
}

export async function reportPrompt(report: PromptReport, { out, globals }: Context): Promise<void> {
  const { server, prompt, result, folder, draw } = report;
  const { description, messages, notes } = result;
  const blocks = messages.map(({ content }) => content);
  const { paths, warnings: unsaved } =
    folder === undefined ? nothingSaved : await saveMedia(blocks, folder, `${server}.${prompt}`);
  const warnings = [...notes, ...unsaved];
  if (globals.json)
    out.json({
      server,
      prompt,
      ...(description !== undefined && { description }),
      messages: messages.map(({ role, content }) => ({ role, content: contentDocument([content])[0] })),
      ...(paths.size > 0 && { saved: [...paths.values()] }),
      ...(warnings.length > 0 && { warnings }),
    });
  else if (messages.length === 0) out.say(safe`${toSafeLine(prompt)} of "${toSafeLine(server)}" has no messages`);
  else {
    const texts = messages.map((message) => messageText(message, { paths, draw }));
    out.print(joinSafe(texts, safe`\n\n`));
  }
  for (const warning of warnings) out.warn(safe`warning: ${toSafeLine(warning)}`);
}

/** The server's text is indented, so that no line of it looks like a role. */
function messageText({ role, content }: Message, options: DisplayOptions): SafeText {
  const text = display([content], {}, options);
  const source = content.type === "resource" ? [safe`[resource ${toVisibleLine(content.resource.uri)}]`] : [];
  const lines = [...source, ...splitSafe(text)];
  return joinSafe([safe`${toSafeLine(role)}:`, ...lines.map((line) => (line === "" ? line : safe`  ${line}`))]);
}
