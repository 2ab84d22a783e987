/** Slash commands for the conversation: `/call`, `/clear`, `/resume`, `/rename`, `/compact`, `/copy` and `/export`. */

import { writeFile } from "node:fs/promises";
import { resolve as toAbsolute } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { privateFileMode } from "@fairlead/core/files";
import { toSafeText } from "@fairlead/core/text/safe-text";
import { errorMessage } from "@fairlead/wire/text";
import { offerTools } from "../input/call-words.ts";
import { chooseConversation, resumeConversation } from "../session/resume.ts";
import { lastAnswer, toMarkdown } from "../state/conversation-text.ts";
import { type SlashCommand, wordsOf } from "./command.ts";

/** `/call`: calls a tool, also if a model is configured. The model sees the result with the user's next message. */
export const call: SlashCommand = {
  name: "call",
  summary: "call a tool yourself; the model sees the result with your next message",
  usage: "SERVER.TOOL [key=value …]",
  complete: ([target], { session }) => (target === undefined ? offerTools(session.conversation.tools()) : []),
  run(line, { session }) {
    if (line === "") throw new HostError("usage", "the tool's name is missing", { next: "/tools" });
    session.sendCall(line, `/call ${line}`);
  },
};

/** `/clear`: clears the screen and starts a new conversation. */
export const clear: SlashCommand = {
  name: "clear",
  summary: "start a new conversation on an empty screen",
  run(_words, { session }) {
    if (session.store.get().turn.kind === "running")
      throw new HostError("busy", "the turn is still running", { next: "press Esc to stop the turn, then: /clear" });
    const { id } = session.conversation;
    const isRecorded = session.store.get().items.some(({ kind }) => kind === "person");
    session.clear();
    const text = "New conversation. The model does not see the previous one.";
    session.note("info", text, ...(isRecorded ? [`/resume ${id}`] : []));
  },
};

/** `/resume`: continues a recorded conversation, from a list or by its id. */
export const resume: SlashCommand = {
  name: "resume",
  summary: "continue an earlier conversation",
  usage: "[ID]",
  run: (line, services) => (line === "" ? chooseConversation(services) : resumeConversation(line, services)),
};

/** `/rename`: gives the conversation a name for the lists of conversations. */
export const rename: SlashCommand = {
  name: "rename",
  summary: "give the conversation a name",
  usage: "NAME",
  run(line, { session }) {
    if (line === "") throw new HostError("usage", "the conversation's name is missing", { next: "/rename NAME" });
    session.conversation.rename(line);
    session.note("info", `The conversation is now called "${line}".`);
  },
};

/** `/compact`: lets the model write a summary. Later requests contain the summary instead of the earlier messages. */
export const compact: SlashCommand = {
  name: "compact",
  summary: "shorten the conversation: the model continues from its own summary; to undo this: /compact undo",
  usage: "[undo]",
  complete: ([word]) => (word === undefined ? [{ value: "undo" }] : []),
  async run(line, { session }) {
    if (session.store.get().turn.kind === "running")
      throw new HostError("busy", "the turn is still running", { next: "press Esc to stop the turn, then: /compact" });
    if (line !== "" && line !== "undo")
      throw new HostError("usage", `/compact does not take "${line}"`, { next: "/compact undo" });
    if (line === "") return session.compact();
    if (!(await session.conversation.undoCompact())) throw new HostError("usage", "there is nothing to undo");
    session.note("info", "The model sees the whole conversation again. Fairlead no longer shortens it automatically.");
  },
};

/** Maximum length of the copied text, in Base64 characters. Some terminals ignore longer text. */
const longestCopy = 75_000;

/** `/copy`: copies the last answer to the clipboard, with the terminal's control sequence OSC 52. */
export const copy: SlashCommand = {
  name: "copy",
  summary: "copy the last answer to the clipboard",
  run(_words, { session, writeTerminal }) {
    const text = lastAnswer(session.store.get().items);
    if (text === undefined) throw new HostError("usage", "there is no answer to copy yet");
    const data = Buffer.from(text).toString("base64");
    const tooLong = `the answer is too long for the terminal's clipboard: ${text.length} characters`;
    if (data.length > longestCopy) throw new HostError("too_large", tooLong, { next: "/export FILE" });
    writeTerminal(`\u001b]52;c;${data}\u0007`);
    session.note(
      "info",
      `Sent the last answer to the clipboard: ${text.length} characters, through your terminal (OSC 52). If the clipboard has not changed, your terminal does not allow OSC 52.`,
      "/export FILE",
    );
  },
};

/** `/export`: writes the conversation to a new file. */
export const exportConversation: SlashCommand = {
  name: "export",
  summary: "write the conversation to a new Markdown file",
  usage: "FILE",
  async run(line, { session, context }) {
    const [name, ...others] = wordsOf(line);
    if (name === undefined || others.length > 0)
      throw new HostError("usage", "/export needs one file name", { next: "/export conversation.md" });
    const { items, model } = session.store.get();
    const shown = toMarkdown(items, model.name);
    if (shown === undefined)
      throw new HostError("usage", "this conversation has no message yet: there is nothing to save");
    const text = await session.host.hideSecrets(shown);
    const file = toAbsolute(context.io.cwd, name.replace(/^~(?=\/|$)/, context.io.home));
    // With the flag `wx`, writing fails if the file exists.
    await writeFile(file, toSafeText(text), { flag: "wx", mode: privateFileMode }).catch((error: unknown) => {
      const reason =
        error instanceof Error && "code" in error && error.code === "EEXIST"
          ? "the file already exists"
          : errorMessage(error);
      throw new HostError("usage", `cannot write ${file}: ${reason}`, { next: "/export ANOTHER_NAME.md" });
    });
    session.note("info", `Wrote the conversation to ${file}`);
  },
};
