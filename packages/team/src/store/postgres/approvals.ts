import type { ApprovalKey, SavedApproval, UserApprovalStore } from "../approvals.ts";
import { type Hints, ownerHint } from "../hints.ts";
import type { Owner } from "../owner.ts";
import type { RunStatement } from "./database.ts";
import { boundedText, keyDigest, ownerValues, withoutNul } from "./values.ts";

interface ApprovalRow {
  readonly server: string;
  readonly fingerprint: string;
  readonly kind: ApprovalKey["kind"];
  readonly tool: string;
  readonly client: string | null;
  readonly digest: string;
  readonly definition: string | null;
  readonly approved_by: string;
  readonly at: Date;
}

export class PostgresApprovals implements UserApprovalStore {
  readonly #run: RunStatement;
  readonly #hints: Hints;

  constructor(run: RunStatement, hints: Hints) {
    this.#run = run;
    this.#hints = hints;
  }

  async list(owner: Owner): Promise<readonly SavedApproval[]> {
    const statement = "select * from approvals where tenant = $1 and principal = $2 order by at desc, number desc";
    const rows = await this.#run<ApprovalRow>(statement, ownerValues(owner));
    return rows.map(toApproval);
  }

  async save(owner: Owner, approval: SavedApproval): Promise<void> {
    const { server, fingerprint, kind, tool, client, digest, definition, by, at } = approval;
    await this.#run(
      `insert into approvals
          (tenant, principal, key_digest, server, fingerprint, kind, tool, client, digest, definition, approved_by, at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        on conflict (tenant, principal, key_digest) do update
          set digest = excluded.digest, definition = excluded.definition, approved_by = excluded.approved_by, at = excluded.at`,
      [
        ...ownerValues(owner),
        digestOf(approval),
        ...[server, fingerprint, kind, tool].map(withoutNul),
        client === undefined ? null : withoutNul(client),
        withoutNul(digest),
        definition === undefined ? null : withoutNul(definition),
        boundedText(by),
        at,
      ],
    );
    this.#hints.send("approval", ownerHint(owner));
  }

  async remove(owner: Owner, key: ApprovalKey): Promise<boolean> {
    const statement = "delete from approvals where tenant = $1 and principal = $2 and key_digest = $3 returning number";
    const rows = await this.#run(statement, [...ownerValues(owner), digestOf(key)]);
    if (rows.length > 0) this.#hints.send("approval", ownerHint(owner));
    return rows.length > 0;
  }
}

function digestOf({ server, fingerprint, kind, tool, client }: ApprovalKey): Buffer {
  return keyDigest(server, fingerprint, kind, tool, client);
}

function toApproval(row: ApprovalRow): SavedApproval {
  const { server, fingerprint, kind, tool, client, digest, definition, approved_by, at } = row;
  return {
    server,
    fingerprint,
    kind,
    tool,
    client: client ?? undefined,
    digest,
    definition: definition ?? undefined,
    by: approved_by,
    at: at.toISOString(),
  };
}
