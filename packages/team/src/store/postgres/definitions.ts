import {
  type AcceptedDefinitions,
  type AcceptedDigests,
  addAccepted,
  type DefinitionOwner,
  toAccepted,
} from "@fairlead/core/server";
import type { DefinitionStore } from "../definitions.ts";
import type { Owner } from "../owner.ts";
import { type Database, lockFor, type RunStatement } from "./database.ts";
import { boundedText, keyDigest, ownerValues } from "./values.ts";

interface DefinitionRow {
  readonly tool_digest: string;
  readonly digests: readonly string[];
}

export class PostgresDefinitions implements DefinitionStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async read(owner: Owner, server: DefinitionOwner): Promise<AcceptedDefinitions> {
    return toAccepted(await readDigests(this.#database.run, owner, server));
  }

  async add(
    owner: Owner,
    server: DefinitionOwner,
    news: ReadonlyMap<string, readonly string[]>,
  ): Promise<AcceptedDefinitions> {
    const [tenant, principal] = ownerValues(owner);
    const digests = await this.#database.transaction(async (run) => {
      // Replicas that add at once would both count the tools before the other one's are there.
      await lockFor(run, keyDigest("definitions", tenant, ...parts(owner, server)));
      const before = await readDigests(run, owner, server);
      const after = addAccepted(before, news);
      const changed = Object.entries(after).filter(([tool, list]) => String(before[tool]) !== String(list));
      await run(
        `insert into definitions (tenant, owner_digest, server, accepted_by, tool_digest, digests)
          select $1, $2, $3, $4, tool, array(select jsonb_array_elements_text(list::jsonb))
            from unnest($5::text[], $6::text[]) as news (tool, list)
          on conflict (tenant, owner_digest, tool_digest) do update
            set digests = excluded.digests, accepted_by = excluded.accepted_by, at = now()`,
        [
          tenant,
          keyDigest(...parts(owner, server)),
          boundedText(server.server),
          principal,
          changed.map(([tool]) => tool),
          changed.map(([, list]) => JSON.stringify(list)),
        ],
      );
      return after;
    });
    return toAccepted(digests);
  }
}

async function readDigests(run: RunStatement, owner: Owner, server: DefinitionOwner): Promise<AcceptedDigests> {
  const statement = "select tool_digest, digests from definitions where tenant = $1 and owner_digest = $2";
  const rows = await run<DefinitionRow>(statement, [owner.tenant, keyDigest(...parts(owner, server))]);
  return Object.fromEntries(rows.map(({ tool_digest, digests }) => [tool_digest, digests]));
}

function parts(
  { principal }: Owner,
  { server, workspace, fingerprint }: DefinitionOwner,
): readonly (string | undefined)[] {
  return [principal, server, workspace, fingerprint];
}
