/** Runs the background host as a process. A relay starts the host detached, with a log file instead of a terminal. */

import { closeSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { explain } from "@fairlead/core/files";
import { asksForTelemetry } from "@fairlead/core/telemetry";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { runDaemon } from "@fairlead/gateway/daemon/daemon";
import { readyWord } from "@fairlead/gateway/relay/start-host";
import { readDuration } from "../arguments/duration.ts";
import type { CommandTelemetry } from "../shell/command-telemetry.ts";
import type { Io } from "../shell/verb.ts";
import { hostPlace } from "./installation.ts";
import { commandWorkspace, openGateway, workspaceOf } from "./open-gateway.ts";

const logFile = 2;
/** The file descriptor on which the relay waits for `readyWord`. */
const readyFile = 3;

/**
 * Runs until the host is stopped, or has had no clients for some time.
 *
 * @param words `--idle TIME`: how long the host keeps running without clients.
 */
export async function runHost(words: readonly string[], io: Io): Promise<void> {
  const note = (text: string): void => {
    const time = new Date().toISOString();
    // Not on `io.stderr`: a full disk must not end the host.
    tell(logFile, safe`${toSafeLine(time)} note ${toSafeLine(text)}\n`);
  };
  const backgroundHost = hostPlace(io);
  if (backgroundHost === undefined)
    throw new HostError("usage", "the background host cannot run: Fairlead is not built");
  const { folder } = backgroundHost;
  const traced = asksForTelemetry(io.env) ? await openTelemetry(io, note) : undefined;
  const telemetry = traced?.telemetry;
  const idle = words[0] === "--idle" ? readDuration("--idle", words[1] ?? "") : undefined;
  try {
    await runDaemon({
      folder,
      version: backgroundHost.version,
      path: io.env["PATH"],
      createGateway: async () => openGateway({ io, state: dirname(folder.all), telemetry, note }),
      workspaceOf: (client) => workspaceOf(client, io),
      commandWorkspace: (command) => commandWorkspace(command, io),
      onReady: () => tellRelay(readyWord),
      note,
      signal: io.signal,
      temporary: tmpdir(),
      platform: io.platform,
      idleTime: idle,
    });
  } catch (error) {
    const reason = `it cannot run in ${folder.path}: ${explain(error)}`;
    note(`the host ends: ${reason}`);
    tellRelay(reason);
    throw new HostError("unreachable", `the background host failed: ${reason}`, { cause: error });
  } finally {
    await traced?.close();
  }
}

/**
 * Opens the telemetry of the host. Its spans belong to no span of the program that has started it: the host also serves
 * others, and lives longer.
 */
async function openTelemetry({ env, clock }: Io, note: (text: string) => void): Promise<CommandTelemetry | undefined> {
  const { openProcessTelemetry } = await import("../shell/command-telemetry.ts");
  const print = (line: string): void => tell(logFile, safe`${toSafeLine(line)}\n`);
  return openProcessTelemetry({ env, clock, warn: (message) => note(`telemetry: ${message}`), print });
}

/**
 * Writes a line to the relay that started this host. Does nothing if no relay started it, or if the relay has ended.
 */
function tellRelay(line: string): void {
  tell(readyFile, `${line.replaceAll("\n", " ")}\n`);
  try {
    closeSync(readyFile);
  } catch {
    // The file descriptor is not open.
  }
}

/** Does nothing if the text cannot be written. */
function tell(file: number, text: string): void {
  try {
    writeSync(file, text);
  } catch {
    // The disk is full, or the reader has ended.
  }
}
