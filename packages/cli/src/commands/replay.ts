/** `fairlead replay`: shows a recorded conversation again, offline. */

import { conversationDocument } from "@fairlead/console/server/words/conversation-document";
import { systemClock } from "@fairlead/core/clock";
import type { RecordedConversation } from "@fairlead/core/conversations";
import { HostError } from "@fairlead/core/errors";
import { Option } from "commander";
import { conversationOf } from "../conversations/find-conversation.ts";
import { isTurnEvent, toTurnEvent } from "../conversations/recorded-events.ts";
import { playLines } from "../conversations/replay-lines.ts";
import { createTurnWriter } from "../headless/writer.ts";
import { columnsOf } from "../output/wrap.ts";
import { configurationOf } from "../shell/configuration.ts";
import type { Context, Verb } from "../shell/verb.ts";

interface Options {
  readonly speed?: string;
  readonly step?: boolean;
  readonly plain?: boolean;
  readonly outputFormat?: "text" | "stream-json";
}

export const verb: Verb = {
  help: `
Shows the conversation in the app, or as lines where there is no terminal. Contacts no server and no model. Pauses of
more than 2 seconds are shortened. Keys: Space or Enter shows the next event at once, q ends.

Examples:
  fairlead replay 20260131-083000-1a2b3c
  fairlead replay ./conversation.jsonl --speed 4
  fairlead replay 20260131-083000-1a2b3c --step
  fairlead replay 20260131-083000-1a2b3c --output-format stream-json`,

  define(command) {
    command
      .argument("<id|file>", "the id of the conversation, or the path of its file")
      .option("--speed <number>", "2 is twice as fast as recorded, 0.5 half as fast")
      .option("--step", "wait for a key before each message, call and answer")
      .option("--plain", "print lines instead of opening the app")
      .addOption(
        new Option(
          "--output-format <format>",
          "text, or stream-json: one line of JSON for each event, as fairlead -p prints it",
        ).choices(["text", "stream-json"]),
      );
  },

  async run(context) {
    const { io, out, globals, command, operands } = context;
    const { speed: word, step = false, plain = false, outputFormat } = command.opts<Options>();
    const speed = word === undefined ? undefined : readSpeed(word);
    const recorded = await conversationOf(operands[0] ?? "", await configurationOf(context), io.cwd);
    if (globals.json) return out.json(conversationDocument(recorded));
    if (outputFormat === "stream-json") return streamEvents(recorded, context);
    const isTerminal = io.stdin.isTTY === true && io.stdout.isTTY === true;
    if (isTerminal && !plain) {
      const { replayInApp } = await import("../conversations/replay-app.tsx");
      return replayInApp(recorded, { io, speed: speed ?? 1, step });
    }
    if (step) throw new HostError("usage", "--step needs a terminal and cannot be combined with --plain");
    const pace = speed === undefined ? {} : { speed };
    await playLines(recorded, { ...pace, out, columns: columnsOf(io.stdout), clock: systemClock, signal: io.signal });
  },
};

function readSpeed(word: string): number {
  const speed = Number(word);
  if (speed > 0 && speed <= 1000) return speed;
  throw new HostError("usage", `--speed must be a number above 0 and up to 1000, not "${word}"`, { next: "--speed 2" });
}

/** Prints the recorded turns in the format of `fairlead -p --output-format stream-json`. */
function streamEvents({ head, lines }: RecordedConversation, { out }: Context): void {
  let { model } = head;
  const writer = createTurnWriter("stream-json", { ...out, say: () => {} });
  for (const line of lines) {
    if (line.type === "model") model = { provider: line.provider, name: line.name };
    if (line.type === "input") writer.start(model, head.id);
    if (isTurnEvent(line)) writer.event(toTurnEvent(line));
  }
}
