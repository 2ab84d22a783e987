/** Checks whether the folder is trusted and which of its servers need approval. Pure. */

import type { Origin } from "@fairlead/core/settings/define/definition";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust/configuration";
import type { Observation } from "./finding.ts";

export interface FolderTrustFacts extends Pick<Configuration, "trust" | "locations" | "settings" | "servers"> {
  /** The setting `security.folderTrust.enabled` that applies. */
  readonly folderTrust: Origin | undefined;
}

export function checkTrust(facts: FolderTrustFacts): readonly Observation[] {
  return [...folderTrust(facts), ...facts.servers.flatMap(waiting)];
}

function folderTrust({ trust, locations, settings, servers, folderTrust }: FolderTrustFacts): readonly Observation[] {
  const { trusted, source, detail, approvesEntries } = trust;
  const { root } = locations;
  if (source === "disabled") {
    const where = folderTrust === undefined ? "" : ` in ${folderTrust.file}:${folderTrust.line}`;
    return [
      {
        severity: "warning",
        message: `every folder is trusted: security.folderTrust.enabled is false${where}`,
        next: `remove "enabled": false from security.folderTrust${where}`,
      },
    ];
  }
  if (trusted) {
    const approved: Observation = {
      severity: "note",
      message: `all servers of this folder are approved for this run: ${detail}`,
    };
    return [{ severity: "ok", message: `${root} is trusted: ${detail}` }, ...(approvesEntries ? [approved] : [])];
  }
  const kept = servers.flatMap(({ server, admission }) =>
    admission.status === "blocked" && admission.reason === "untrusted_folder" ? [{ ...server, admission }] : [],
  );
  const [first] = kept;
  const isIgnored = settings.files.some(({ state }) => state === "ignored");
  if (first === undefined && !isIgnored)
    return [{ severity: "ok", message: `${root} is not trusted (${detail}) and has no settings` }];
  const names = kept.map(({ name }) => name).join(", ");
  return [
    {
      severity: "warning",
      message: `${root} is not trusted (${detail}), so its settings are ignored${names === "" ? "" : ` (servers: ${names})`}`,
      next: first?.admission.next ?? "fairlead trust add",
    },
  ];
}

function waiting({ server, admission }: AdmittedServer): readonly Observation[] {
  if (admission.status !== "blocked" || admission.reason !== "awaiting_approval") return [];
  const { message, next } = admission;
  return [{ severity: "warning", server: server.name, message, next }];
}
