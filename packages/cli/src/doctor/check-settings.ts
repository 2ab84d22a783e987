/** Checks the settings files, the folder's trust, policy files, approvals and the lock file. Pure functions. */

import type { HostError } from "@fairlead/core/errors";
import type { Policies } from "@fairlead/core/policy";
import type { Origin, Problem } from "@fairlead/core/settings";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust";
import { count } from "../output/output.ts";
import { note, type Observation, ok, problem, warning } from "./finding.ts";

type Facts = Pick<Configuration, "settings" | "problems" | "servers">;

/** Reports which settings files were read, and the problems in them. */
export function checkSettings({ settings, problems, servers }: Facts): readonly Observation[] {
  const read = settings.files.filter(({ state }) => state === "read").map(({ file }) => file);
  const ignored = settings.files.filter(({ state }) => state === "ignored");
  const isNew = settings.files.every(({ state }) => state === "absent");
  const isBroken = settings.files.some(({ state }) => state === "broken");
  return [
    ...(isNew ? [ok("no settings file yet")] : []),
    ...(read.length === 0 ? [] : [ok(`read: ${read.join(", ")}`)]),
    ...ignored.map(({ file }) => note(`${file} ignored: the folder is not trusted`, "fairlead trust add")),
    // An invalid file may contain servers, so doctor does not report that no server is configured.
    ...(servers.length === 0 && !isBroken ? [note("no server is configured", "fairlead mcp import")] : []),
    ...servers.flatMap(({ server: { name, origin, shadows } }) =>
      shadows.map((shadowed) => {
        return {
          ...note(`"${name}" in ${positionOf(origin)} replaces the entry in ${positionOf(shadowed)}`),
          server: name,
        };
      }),
    ),
    ...problems.map(toObservation),
  ];
}

function toObservation({ severity, code, message, origin, serverName, next }: Problem): Observation {
  const correct = origin && `correct ${origin.file} at line ${origin.line}, column ${origin.column}`;
  return {
    severity: severity === "error" ? "problem" : "warning",
    server: serverName,
    message: origin === undefined ? message : `${positionOf(origin)}: ${message}`,
    next: next ?? correct ?? "fairlead settings validate",
    code: severity === "error" ? code : undefined,
  };
}

function positionOf({ file, line, column }: Origin): string {
  return `${file}:${line}:${column}`;
}

/** The loaded policy files and their problems. */
export interface PolicyFacts extends Pick<Policies, "problems" | "files"> {
  /** Errors that occurred while reading the approvals or the lock file. */
  readonly failures: readonly HostError[];
}

/** Checks policy files, approvals and the lock file. */
export function checkPolicy({ problems, files, failures }: PolicyFacts): readonly Observation[] {
  const read = files.filter(({ state }) => state === "read");
  return [
    ...(read.length === 0 ? [] : [ok(`${count(read.length, "policy file")} read`)]),
    ...problems.map(policyObservation),
    ...failures.map(problem),
  ];
}

function policyObservation({ severity, code, message, origin, next }: Problem): Observation {
  return {
    severity: severity === "error" ? "problem" : "warning",
    message: origin === undefined ? message : `${positionOf(origin)}: ${message}`,
    next: next ?? "fairlead policy list",
    code: severity === "error" ? code : undefined,
  };
}

interface FolderTrustFacts extends Pick<Configuration, "trust" | "locations" | "settings" | "servers"> {
  /** Where the effective value of `security.folderTrust.enabled` is set. */
  readonly folderTrust: Origin | undefined;
}

/** Checks whether the folder is trusted and which of its servers need approval. */
export function checkTrust(facts: FolderTrustFacts): readonly Observation[] {
  return [...folderTrust(facts), ...facts.servers.flatMap(waiting)];
}

function folderTrust({ trust, locations, settings, servers, folderTrust }: FolderTrustFacts): readonly Observation[] {
  const { trusted, source, detail, approvesEntries } = trust;
  const { root } = locations;
  if (source === "disabled") {
    const where = folderTrust === undefined ? "" : ` in ${folderTrust.file}:${folderTrust.line}`;
    return [
      warning(
        `every folder is trusted: security.folderTrust.enabled is false${where}`,
        `remove "enabled": false from security.folderTrust${where}`,
      ),
    ];
  }
  if (trusted) {
    const approved: Observation = note(`all servers of this folder are approved for this run: ${detail}`);
    return [ok(`${root} is trusted: ${detail}`), ...(approvesEntries ? [approved] : [])];
  }
  const kept = servers.flatMap(({ server, admission }) =>
    admission.status === "blocked" && admission.reason === "untrusted_folder" ? [{ ...server, admission }] : [],
  );
  const [first] = kept;
  const isIgnored = settings.files.some(({ state }) => state === "ignored");
  if (first === undefined && !isIgnored) return [ok(`${root} is not trusted (${detail}) and has no settings`)];
  const names = kept.map(({ name }) => name).join(", ");
  return [
    warning(
      `${root} is not trusted (${detail}), so its settings are ignored${names === "" ? "" : ` (servers: ${names})`}`,
      first?.admission.next ?? "fairlead trust add",
    ),
  ];
}

function waiting({ server, admission }: AdmittedServer): readonly Observation[] {
  if (admission.status !== "blocked" || admission.reason !== "awaiting_approval") return [];
  const { message, next } = admission;
  return [{ severity: "warning", server: server.name, message, next }];
}
