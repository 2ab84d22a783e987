/** `fairlead test`: runs checks against servers. */

import { writeFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { loadSnapshots, runChecks, snapshotPath } from "@fairlead/core/checks/run-checks";
import { systemClock } from "@fairlead/core/clock";
import { HostError } from "@fairlead/core/errors";
import { createValidator } from "@fairlead/core/execute/validation/validator";
import { toWriteError } from "@fairlead/core/files/system-error";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { checksDocument, type FileReport, failUnlessPassed, junitText, outcomeText } from "../checks/check-report.ts";
import { withCheckedServer } from "../checks/checked-server.ts";
import { loadChecks } from "../checks/load-checks.ts";
import { errorLines } from "../output/error-lines.ts";
import { configurationOf } from "../shell/configuration.ts";
import type { Context, Verb } from "../shell/verb.ts";

interface Options {
  readonly update?: boolean;
  readonly junit?: string;
}

export const verb: Verb = {
  help: `
A file is YAML or JSON:

  server: files                        a server of your settings, or:
  command: [node, server.js]           a program, started in the file's folder; the folder must be trusted
  tools: { include: [read], exact: false, snapshot: false }
  mask: ["req-[0-9]+"]                 patterns to mask in snapshots; ids and times are always masked
  checks:
    - name: reads a file
      call: read
      arguments: { path: a.txt }
      expect:
        text: exact text               or contains: part, or matches: pattern
        structured: { size: 3 }        a part of the structured content
        schema: { type: object }       a JSON Schema for the structured content
        snapshot: true                 compare with FILE.snap.json, which --update writes
        isError: false
        latency: { baseline: name of an earlier check, ratio: 3 }

A check also fails if a tool with the annotation readOnlyHint changes the server's lists.
Policy rules apply as to a call that you type.
Exit codes: 0 all checks passed, 1 a check failed.

Examples:
  fairlead test checks.yaml
  fairlead test checks/*.yaml --junit report.xml --trust-workspace
  fairlead test checks.yaml --update`,

  define(command) {
    command
      .argument("<file...>", "the files that contain the checks")
      .option("--update", "write snapshots instead of comparing them")
      .option("--junit <file>", "write the outcomes as JUnit XML, for CI");
  },

  async run(context) {
    const { io, out, globals, operands, command } = context;
    const { update = false, junit } = command.opts<Options>();
    const configuration = await configurationOf(context);
    const validator = createValidator();
    const reports: FileReport[] = [];
    try {
      for (const word of operands) {
        const loaded = await loadChecks(word, io.cwd);
        if (!globals.json) out.print(out.style.bold(toSafeLine(relative(io.cwd, loaded.path) || word)));
        reports.push(await runFile(loaded, { configuration, validator, update }, context));
      }
    } finally {
      await validator.close();
    }
    if (junit !== undefined) await write(resolve(io.cwd, junit), junitText(reports));
    if (globals.json) out.json(checksDocument(reports));
    failUnlessPassed(reports);
  },
};

interface RunOptions {
  readonly configuration: Awaited<ReturnType<typeof configurationOf>>;
  readonly validator: ReturnType<typeof createValidator>;
  readonly update: boolean;
}

async function runFile(
  { path, file }: Awaited<ReturnType<typeof loadChecks>>,
  { configuration, validator, update }: RunOptions,
  context: Context,
): Promise<FileReport> {
  const { out, globals } = context;
  const kept = snapshotPath(path);
  const snapshots = await loadSnapshots(kept, update);
  try {
    return await withCheckedServer(file.target, { path, configuration, context }, async (server, name) => {
      const outcomes = await runChecks(file, server, {
        snapshots,
        validator,
        clock: systemClock,
        onOutcome: (outcome) => {
          if (!globals.json) out.print(outcomeText(outcome, out.style));
        },
      });
      const text = snapshots.changedText();
      if (text !== undefined) await write(kept, text);
      return { file: path, server: name, outcomes };
    });
  } catch (error) {
    if (!(error instanceof HostError) || error.code === "cancelled") throw error;
    if (!globals.json) out.print(safe`  ${out.style.red(safe`✗`)} ${errorLines(error)}`);
    return { file: path, outcomes: [], error };
  }
}

async function write(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((error: unknown) => {
    throw toWriteError(file, error);
  });
}
