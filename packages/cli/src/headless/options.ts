/** Defines and validates the options of `fairlead -p`. */

import { HostError } from "@fairlead/core/errors";
import type { ApprovalMode } from "@fairlead/core/policy";
import { type Command, Option } from "commander";
import { readDuration } from "../arguments/duration.ts";
import type { ResumeOptions } from "../conversations/find-conversation.ts";
import { resumeFlags } from "../shell/app-options.ts";
import type { Context } from "../shell/verb.ts";

/** The values of `--output-format`. */
export type OutputFormat = "text" | "json" | "stream-json";

/** The validated options of `fairlead -p`. */
export interface HeadlessOptions {
  /** The prompt. It may be empty if there is piped input. */
  readonly typed: string;
  readonly format: OutputFormat;
  readonly mode: ApprovalMode;
  /** The values of `--allow` as the user typed them: `server.tool`, a pattern, or a server. */
  readonly allow: readonly string[];
  readonly servers: readonly string[] | undefined;
  readonly model: string | undefined;
  /** How long to wait for servers without a cached catalog, in milliseconds. */
  readonly wait: number | undefined;
  readonly maxTurns: number | undefined;
  readonly failOnDenied: boolean;
  /** Which recorded conversation to continue, if any. */
  readonly resuming: ResumeOptions;
}

interface Written extends ResumeOptions {
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

/** Adds the options of `fairlead -p` to the command. */
export function defineOptions(command: Command): void {
  const format = new Option(
    "--output-format <format>",
    "text: the answer; json: one document; stream-json: one line per event",
  );
  const mode = new Option(
    "--approval-mode <mode>",
    "plan: allow only read-only tools; yolo: allow all tools; rules still apply",
  );
  const all = (word: string, before: readonly string[] = []): readonly string[] => [...before, word];
  command
    .requiredOption("-p, --prompt <text>", "the prompt; piped input is added after the prompt")
    .addOption(format.choices(["text", "json", "stream-json"]))
    .addOption(mode.choices(["default", "plan", "yolo"]).default("default"))
    .option(
      "--allow <server.tool>",
      "allow this tool in this run; SERVER or 'SERVER.*' allows all tools of a server (repeatable)",
      all,
    )
    .option("--servers <names>", "give the model only the tools of these servers, separated by commas")
    .option("-m, --model <name>", "the model to use; `manual`: no model, the prompt is a list of calls")
    .option("--wait <time>", "how long to wait for servers without a cached catalog: 500ms, 10s, 2m")
    .option("--max-turns <number>", "send at most this many requests to the model")
    .option("--fail-on-denied", "exit with code 6 if a call was denied");
  for (const [flags, help] of resumeFlags) command.option(flags, help);
}

/** Returns the options that the user gave. @throws HostError `usage` for an invalid value */
export function readOptions({ command, globals }: Pick<Context, "command" | "globals">): HeadlessOptions {
  const { prompt, outputFormat, approvalMode, allow = [], servers, model, wait, ...limits } = command.opts<Written>();
  const { maxTurns, failOnDenied = false, continue: isContinued = false, resume } = limits;
  const format = outputFormat ?? (globals.json ? "json" : "text");
  if (globals.json && format !== "json")
    throw new HostError("usage", `--json and --output-format ${format} cannot be combined`);
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
    resuming: { continue: isContinued, resume },
  };
}

function readNames(list: string): readonly string[] {
  const names = list.split(",").map((name) => name.trim());
  if (names.includes("")) throw new HostError("usage", `--servers must be names separated by commas, not "${list}"`);
  return [...new Set(names)];
}

function readCount(option: string, text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new HostError("usage", `${option} must be a whole number above zero, not "${text}"`);
}
