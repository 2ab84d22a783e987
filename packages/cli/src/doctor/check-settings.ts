/** Checks the settings files: read, ignored and broken ones, and their problems. Pure. */

import type { Origin, Problem } from "@fairlead/core/settings/define/definition";
import type { Configuration } from "@fairlead/core/trust/configuration";
import type { Observation } from "./finding.ts";

type Facts = Pick<Configuration, "settings" | "problems" | "servers">;

export function checkSettings({ settings, problems, servers }: Facts): readonly Observation[] {
  const read = settings.files.filter(({ state }) => state === "read").map(({ file }) => file);
  const ignored = settings.files.filter(({ state }) => state === "ignored");
  const isNew = settings.files.every(({ state }) => state === "absent");
  const isBroken = settings.files.some(({ state }) => state === "broken");
  return [
    ...(isNew ? [nothingWritten] : []),
    ...(read.length === 0 ? [] : [{ severity: "ok", message: `read: ${read.join(", ")}` } as const]),
    ...ignored.map(
      ({ file }): Observation => ({
        severity: "note",
        message: `${file} ignored: the folder is not trusted`,
        next: "fairlead trust add",
      }),
    ),
    // A broken file may contain servers.
    ...(servers.length === 0 && !isBroken ? [nothingConfigured] : []),
    ...servers.flatMap(({ server: { name, origin, shadows } }) =>
      shadows.map(
        (shadowed): Observation => ({
          severity: "note",
          server: name,
          message: `"${name}" in ${place(origin)} replaces the entry in ${place(shadowed)}`,
        }),
      ),
    ),
    ...problems.map(toObservation),
  ];
}

const nothingWritten: Observation = { severity: "ok", message: "no settings file yet" };

const nothingConfigured: Observation = {
  severity: "note",
  message: "no server is configured",
  next: "fairlead mcp import",
};

function toObservation({ severity, code, message, origin, serverName, next }: Problem): Observation {
  const correct = origin && `correct ${origin.file} at line ${origin.line}, column ${origin.column}`;
  return {
    severity: severity === "error" ? "problem" : "warning",
    ...(serverName !== undefined && { server: serverName }),
    message: origin === undefined ? message : `${place(origin)}: ${message}`,
    next: next ?? correct ?? "fairlead settings validate",
    ...(severity === "error" && { code }),
  };
}

function place({ file, line, column }: Origin): string {
  return `${file}:${line}:${column}`;
}
