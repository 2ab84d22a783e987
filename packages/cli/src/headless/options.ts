/** The options of `fairlead -p`, read once: what is left of them are values that make sense. */

import { HostError } from "@fairlead/core/errors";
import type { ApprovalMode } from "@fairlead/core/policy/rules/rule";
import { type Command, Option } from "commander";
import type { Context } from "../shell/verb.ts";
import { readDuration } from "./duration.ts";

export type OutputFormat = "text" | "json" | "stream-json";

export interface HeadlessOptions {
  /** What the person typed; may be empty if something is piped in. */
  readonly typed: string;
  readonly format: OutputFormat;
  readonly mode: ApprovalMode;
  /** As written: `server.tool`. */
  readonly allow: readonly string[];
  readonly servers: readonly string[] | undefined;
  readonly model: string | undefined;
  /** Milliseconds. */
  readonly wait: number | undefined;
  readonly maxTurns: number | undefined;
  readonly failOnDenied: boolean;
}

interface Written {
  readonly prompt: string;
  readonly outputFormat?: OutputFormat;
  readonly approvalMode: ApprovalMode;
  readonly allow?: readonly string[];
  readonly servers?: string;
  readonly model?: string;
  readonly wait?: string;
  readonly maxTurns?: string;
  readonly failOnDenied?: boolean;
}

export function defineOptions(command: Command): void {
  const format = new Option("--output-format <format>", "the answer, one document, or a line for each event");
  const mode = new Option("--approval-mode <mode>", "what may run beside the rules: plan only looks, yolo allows");
  const all = (word: string, before: readonly string[] = []): readonly string[] => [...before, word];
  command
    .requiredOption("-p, --prompt <text>", "what the model is asked; what is piped in follows it")
    .addOption(format.choices(["text", "json", "stream-json"]))
    .addOption(mode.choices(["default", "plan", "yolo"]).default("default"))
    .option("--allow <server.tool>", "let it run this tool without asking (repeatable)", all)
    .option("--servers <names>", "offer it the tools of these servers alone: a,b")
    .option("-m, --model <name>", "the model; `manual`: the prompt itself is a list of calls")
    .option("--wait <time>", "how long to wait for servers of which nothing is known yet: 500ms, 10s, 1m")
    .option("--max-turns <number>", "how often the model may be asked before it must have come to an end")
    .option("--fail-on-denied", "exit with 6 if a call was denied");
}

export function readOptions({ command, globals }: Pick<Context, "command" | "globals">): HeadlessOptions {
  const { prompt, outputFormat, approvalMode, allow = [], servers, model, wait, ...limits } = command.opts<Written>();
  const { maxTurns, failOnDenied = false } = limits;
  const format = outputFormat ?? (globals.json ? "json" : "text");
  if (globals.json && format !== "json")
    throw new HostError("usage", `--json and --output-format ${format} ask for two formats at once`);
  return {
    typed: prompt,
    format,
    mode: approvalMode,
    allow,
    servers: servers === undefined ? undefined : readNames(servers),
    model,
    wait: wait === undefined ? undefined : readDuration("--wait", wait),
    maxTurns: maxTurns === undefined ? undefined : readCount("--max-turns", maxTurns),
    failOnDenied,
  };
}

function readNames(list: string): readonly string[] {
  const names = list.split(",").map((name) => name.trim());
  if (names.includes("")) throw new HostError("usage", `--servers takes names with commas between them, not "${list}"`);
  return [...new Set(names)];
}

function readCount(option: string, text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new HostError("usage", `${option} must be a whole number above zero, not "${text}"`);
}
