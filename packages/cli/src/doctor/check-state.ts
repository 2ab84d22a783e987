/** Checks Fairlead's state folder and the secret store. Pure functions. */

import type { HostError } from "@fairlead/core/errors";
import type { SecretStore } from "@fairlead/core/files/secrets/secret-store";
import type { UnsafeFolder } from "@fairlead/core/files/unsafe-folder";
import { toShellWord } from "@fairlead/core/text/shell-word";
import { sizeWords } from "@fairlead/core/text/size-words";
import type { AdmittedServer } from "@fairlead/core/trust/configuration";
import { note, type Observation, ok, problem, warning } from "./finding.ts";

/** The condition of Fairlead's state folder. `failure` says why it cannot be written. */
export interface StateFacts {
  readonly folder: string;
  /**
   * `let in`: other users can read the folder. `kept out`: they cannot. `shut out`: doctor has just removed their
   * access.
   */
  readonly others: "kept out" | "shut out" | "let in";
  readonly failure?: string;
  /** Paths of damaged files that Fairlead has renamed. */
  readonly aside: readonly string[];
  /** Free bytes on the folder's disk, if known. */
  readonly free?: number;
  /** A folder on the way to the background host's files that lets other users replace them. */
  readonly unsafe?: UnsafeFolder;
}

/** Doctor warns if the disk has fewer free bytes than this, because catalogs, logs and results need space. */
const scarce = 50 * 1024 * 1024;

/** Reports whether the state folder is writable, private and on a disk with free space. */
export function checkState({ folder, others, failure, aside, free, unsafe }: StateFacts): readonly Observation[] {
  const message = `${folder} cannot be written (${failure}): approvals, secrets, logs and cached catalogs cannot be saved`;
  const next = `make ${folder} writable, or set FAIRLEAD_HOME to a writable folder`;
  const findings = [
    failure === undefined ? ok(`${folder} can be written`) : problem({ code: "internal", message, next }),
  ];
  if (others === "shut out")
    findings.push(note(`other users could read ${folder}; doctor has changed its permissions to 700`));
  if (others === "let in") findings.push(warning(`other users can read ${folder}`, `chmod 700 ${toShellWord(folder)}`));
  if (unsafe !== undefined)
    findings.push(
      warning(
        `other users can replace files in ${folder}: ${unsafe.path} is not safe, because ${unsafe.problem}; the background host is not used`,
        unsafe.next,
      ),
    );
  if (free !== undefined && free < scarce && failure === undefined)
    findings.push(
      warning(`the disk of ${folder} is nearly full: ${sizeWords(free)} left`, "delete files on that disk"),
    );
  if (aside.length > 0) {
    const message = `damaged files were renamed: ${aside.join(", ")}; Fairlead no longer uses the data in them`;
    findings.push(warning(message, `rm ${aside.map(toShellWord).join(" ")}`));
  }
  return findings;
}

/** The configured servers and the secret store. `store` has an error if the store cannot be opened. */
export interface SecretFacts {
  readonly servers: readonly AdmittedServer[];
  readonly store:
    | { readonly backend: SecretStore["backend"]; readonly names: ReadonlySet<string> }
    | { readonly error: Pick<HostError, "message" | "next" | "code"> };
}

/** Checks the secret store and the secrets that servers refer to. */
export function checkSecrets({ store, servers }: SecretFacts): readonly Observation[] {
  if ("error" in store) return [problem(store.error)];
  const { backend, names } = store;
  const storage = backend === "keychain" ? "the system's keychain" : "an encrypted file (no keychain in use)";
  return [
    ok(`${names.size} stored in ${storage}`),
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
            code: mayStart ? "variable_unset" : undefined,
          };
        }),
    ),
  ];
}
