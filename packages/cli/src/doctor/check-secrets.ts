/** Checks the secret store and the secrets that servers refer to. Pure. */

import type { HostError } from "@fairlead/core/errors";
import type { SecretStore } from "@fairlead/core/files/secrets/secret-store";
import type { AdmittedServer } from "@fairlead/core/trust/configuration";
import type { Observation } from "./finding.ts";

export interface SecretFacts {
  readonly servers: readonly AdmittedServer[];
  readonly store:
    | { readonly backend: SecretStore["backend"]; readonly names: ReadonlySet<string> }
    | { readonly error: Pick<HostError, "message" | "next" | "code"> };
}

export function checkSecrets({ store, servers }: SecretFacts): readonly Observation[] {
  if ("error" in store) {
    const { message, next, code } = store.error;
    return [{ severity: "problem", code, message, ...(next !== undefined && { next }) }];
  }
  const { backend, names } = store;
  const place = backend === "keychain" ? "the system's keychain" : "an encrypted file (no keychain in use)";
  return [
    { severity: "ok", message: `${names.size} stored in ${place}` },
    ...servers.flatMap(({ server, admission }) =>
      (server.definition?.secrets ?? [])
        .filter((name) => !names.has(name))
        .map((name): Observation => {
          const mayStart = admission.status === "admitted";
          return {
            severity: mayStart ? "problem" : "note",
            server: server.name,
            message: `"${server.name}" needs the secret ${name}, which is not stored`,
            next: `fairlead secret set ${name}`,
            ...(mayStart && { code: "variable_unset" }),
          };
        }),
    ),
  ];
}
