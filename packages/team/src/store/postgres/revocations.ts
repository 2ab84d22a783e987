import { type Hints, ownerHint } from "../hints.ts";
import type { UserRevocation, UserRevocationStore } from "../revocations.ts";
import type { RunStatement } from "./database.ts";
import { ownerValues, toTime } from "./values.ts";

interface RevocationRow {
  readonly tenant: number;
  readonly principal: string;
  readonly issued_before: Date;
  readonly until: Date;
}

export class PostgresRevocations implements UserRevocationStore {
  readonly #run: RunStatement;
  readonly #hints: Hints;

  constructor(run: RunStatement, hints: Hints) {
    this.#run = run;
    this.#hints = hints;
  }

  async revoke(revocation: UserRevocation): Promise<void> {
    await this.#run(
      `insert into revocations as old (tenant, principal, issued_before, until) values ($1, $2, $3, $4)
        on conflict (tenant, principal) do update set
          issued_before = greatest(old.issued_before, excluded.issued_before), until = greatest(old.until, excluded.until)`,
      [...ownerValues(revocation), toTime(revocation.issuedBefore), toTime(revocation.until)],
    );
    this.#hints.send("revocation", ownerHint(revocation));
  }

  async list(): Promise<readonly UserRevocation[]> {
    const statement = "select * from revocations where until > now() order by tenant, principal";
    return (await this.#run<RevocationRow>(statement)).map(({ tenant, principal, issued_before, until }) => ({
      tenant,
      principal,
      issuedBefore: issued_before.getTime(),
      until: until.getTime(),
    }));
  }
}
